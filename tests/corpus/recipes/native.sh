# Native programs: Rust, C, C# on Mono, Perl, Erlang
# software: the first word of each name
# apt: gcc perl mono-mcs mono-runtime erlang-base
names
export RUSTUP_HOME=/root/.rustup CARGO_HOME=/root/.cargo PATH=$PATH:/root/.cargo/bin
rs() { cat >main.rs; LIMIT=60 quiet rustc -O -o main main.rs; run ./main; }
rs <<'E2'
use std::net::TcpStream;
fn main() { println!("INFO worker: connecting"); TcpStream::connect("api:9000").expect("connect to api"); }
E2
excerpt rust_refused "NETWORK_ERROR net:refused LOG_ERROR crash" "Rust: the peer does not listen, expect() panics"
rs <<'E2'
fn main() { println!("INFO worker: started"); let v: Vec<u32> = vec![1]; let i = std::env::args().count() + 4; println!("{}", v[i]); }
E2
excerpt rust_index "LOG_ERROR crash" "Rust: an index out of bounds"
rs <<'E2'
fn main() -> Result<(), std::io::Error> { println!("reading config"); std::fs::read_to_string("/etc/app/config.toml")?; Ok(()) }
E2
excerpt rust_file_missing "missing_dependency LOG_ERROR" "Rust: a file that is not there"
rs <<'E2'
fn main() { let k = std::env::var("APP_KEY").expect("APP_KEY must be set"); println!("{}", k); }
E2
excerpt rust_variable_missing "config_error LOG_ERROR crash" "Rust: a required environment variable is not set"
c() { cat >main.c; rm -f main; gcc -w -g -o main main.c; run bash -c './main'; }
c <<'E2'
#include <stdio.h>
#include <assert.h>
int main() { puts("engine started"); fflush(stdout); int queue = 3; assert(queue == 0); }
E2
excerpt c_assert "LOG_ERROR crash" "C: an assertion fails"
c <<'E2'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main() { puts("engine started"); fflush(stdout); char *p = malloc(8); free(p); free(p); }
E2
excerpt c_double_free "LOG_ERROR crash" "C: double free"
c <<'E2'
#include <stdio.h>
int main() { puts("engine started"); fflush(stdout); *(volatile int *)0 = 1; }
E2
run bash -c './main; echo "worker left with $?"'
excerpt c_segfault "LOG_ERROR crash" "C: a segmentation fault in a shell"
cs() { cat >Main.cs; quiet mcs -out:main.exe Main.cs; run mono main.exe; }
cs <<'E2'
using System; using System.Net.Sockets;
class P { static void Main() { Console.WriteLine("info: Shop.Worker[0] connecting"); new TcpClient().Connect("127.0.0.4", 9000); } }
E2
excerpt mono_refused "NETWORK_ERROR net:refused LOG_ERROR" "C#: the peer does not listen"
cs <<'E2'
using System; using System.Collections.Generic;
class P { static void Main() { Console.WriteLine("closing the day"); var d = new Dictionary<string,int>(); Console.WriteLine(d["total"]); } }
E2
excerpt mono_key "LOG_ERROR" "C#: a defect: KeyNotFoundException"
cs <<'E2'
using System; class P { static void Main() { System.IO.File.ReadAllText("/etc/app/appsettings.json"); } }
E2
excerpt mono_file_missing "missing_dependency LOG_ERROR" "C#: a file that is not there"
pl() { cat >main.pl; run perl main.pl; }
pl <<'E2'
use IO::Socket::INET; print "starting\n"; IO::Socket::INET->new(PeerAddr => 'cache', PeerPort => 6379) or die "Cannot connect to cache:6379: $@\n";
E2
excerpt perl_refused "NETWORK_ERROR net:refused LOG_ERROR" "Perl: the peer does not listen"
pl <<'E2'
use strict; use DBIx::NotThere;
E2
excerpt perl_module "missing_dependency LOG_ERROR" "Perl: a module that is not installed"
pl <<'E2'
use strict; use warnings; my $n; print "total: " . (5 / ($n // 0)) . "\n";
E2
excerpt perl_zero "LOG_ERROR" "Perl: division by zero"
echo '-module(m). -export([start/0]). start() -> io:format("starting~n"), spawn(fun() -> {ok, _} = gen_tcp:connect("api", 9000, []) end), timer:sleep(2500), halt(0).' >m.erl; quiet erlc m.erl; run erl -noshell -s m start
excerpt erlang_refused "NETWORK_ERROR net:refused LOG_ERROR" "Erlang: the peer does not listen"
