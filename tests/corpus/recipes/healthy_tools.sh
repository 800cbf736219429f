# Tools in ordinary work: builds, tests, installers, backups
# software: the first word of each name
# apt: gcc make git golang-go restic rclone borgbackup logrotate curl openssl sqlite3 iproute2 rsync gnupg
# pip: alembic sqlalchemy structlog django
# npm: express
export GOCACHE=/srv/gocache GOPATH=/srv/go GO111MODULE=off RUSTUP_HOME=/root/.rustup CARGO_HOME=/srv/cargo PATH=$PATH:/root/.cargo/bin RESTIC_PASSWORD=example BORG_PASSPHRASE=example
mkdir -p gt && cat >gt/main_test.go <<'E2'
package main
import ("errors"; "testing")
func TestErrorIsWrapped(t *testing.T) { if errors.Is(errors.New("x"), errors.ErrUnsupported) { t.Fatal("no") } }
func TestTimeoutParsed(t *testing.T) { t.Log("timeout=30s") }
func TestPanicsRecovered(t *testing.T) { defer func() { recover() }(); panic("on purpose") }
E2
sed -i 's/errors.ErrUnsupported/errors.New("y")/' gt/main_test.go
(cd gt; LIMIT=120 run go test -v ./...)
excerpt go_test healthy "go test: all tests pass, their names speak of errors"
mkdir -p rt/src; printf '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n' >rt/Cargo.toml
cat >rt/src/lib.rs <<'E2'
pub fn parse(s: &str) -> Result<u32, std::num::ParseIntError> { let unused = 1; s.parse() }
#[cfg(test)] mod tests {
  #[test] fn error_on_letters() { assert!(super::parse("x").is_err()); }
  #[test] #[should_panic] fn panics_on_overflow() { super::parse("99999999999").unwrap(); }
  #[test] fn parses() { assert_eq!(super::parse("7").unwrap(), 7); }
}
E2
(cd rt; LIMIT=120 run cargo test --offline)
excerpt cargo_test healthy "cargo test: a warning, all tests pass, one of them panics on purpose" tail 40
cat >t.py <<'E2'
import unittest
class Errors(unittest.TestCase):
    def test_error_is_raised(self): self.assertRaises(ValueError, int, "x")
    def test_timeout_is_kept(self): pass
    @unittest.skip("needs network")
    def test_connection_refused(self): pass
unittest.main(verbosity=2)
E2
run python t.py
excerpt unittest_ok healthy "unittest: all pass"
printf 'const t = require("node:test"); t("throws an error on bad input", () => { require("assert").throws(() => { throw new Error("x"); }); }); t("timeout is honoured", () => {});\n' >t.js; run node --test t.js
excerpt node_test healthy "node --test: fail 0"
printf 'new Buffer(3); fs = require("fs"); process.emitWarning("onError() is deprecated", "DeprecationWarning", "APP001"); console.log("listening on 3000, no errors");\n' >d.js; run node d.js; run node --experimental-vm-modules -e 'console.log("ready")'
excerpt node_deprecation healthy "node: deprecation and experimental warnings"
printf 'CFLAGS = -Wall -Wno-error -fno-exceptions\nall: error.o panic.o\n\t@echo "0 errors, 0 warnings"\n%%.o: %%.c\n\t$(CC) $(CFLAGS) -c $<\nclean:\n\trm -f *.o\n' >Makefile; echo 'int report_error(int x) { int unused; return x; }' >error.c; echo 'void panic_handler(void) {}' >panic.c
run make; run make
excerpt make_build healthy "make: files named error.c and panic.c, a warning"
git config --global init.defaultBranch main; git config --global user.email a@app.example; git config --global user.name A; mkdir repo; cd repo; quiet git init; echo x >error.log; quiet git add .; : >/mnt/log
run git commit -m 'Fix crash on connection refused'; run git status; run git gc; run git fsck; run git log --oneline
excerpt git_work healthy "git: a commit about a crash"
cd ..
quiet restic init -r /srv/rr; run restic -r /srv/rr backup /etc/ssl; run restic -r /srv/rr forget --keep-last 1 --prune; run restic -r /srv/rr check --read-data
excerpt restic_prune healthy "restic: backup, prune, check: no errors were found" tail 50
quiet borg init -e repokey /srv/bb; run borg create --stats /srv/bb::one /etc/ssl/openssl.cnf; run borg check -v /srv/bb
excerpt borg_check healthy "Borg: backup with statistics, check: no problems found"
mkdir -p /srv/rc; run rclone copy -v --stats-one-line /etc/ssl/openssl.cnf /srv/rc; run rclone check -v /srv/rc /srv/rc
excerpt rclone_copy healthy "rclone: copy and check: 0 differences"
printf '/srv/log/*.log {\n rotate 2\n missingok\n notifempty\n compress\n create\n}\n' >/etc/app/lr; mkdir /srv/log; echo x >/srv/log/error.log; run logrotate -v -f -s /srv/lr.state /etc/app/lr
excerpt logrotate_verbose healthy "logrotate -v: rotates error.log"
side python3 -m http.server -b 127.0.0.4 9000; up 9000 127.0.0.4; run curl -sv http://api:9000/; run curl -sS -o /dev/null -w 'http_code=%{http_code} errormsg=%{errormsg} time=%{time_total}\n' http://api:9000/error
excerpt curl_verbose healthy "curl -v: a page, and one that does not exist"
run wget -O /dev/null http://api:9000/t.py
excerpt wget_ok healthy "wget: a download"
certificate api; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443; run openssl s_client -connect 127.0.0.1:9443 -CAfile /srv/api.crt -servername api
excerpt openssl_client healthy "openssl s_client: Verify return code: 0 (ok)" tail 30
stop_sides
run pip list --format=freeze; run pip check
excerpt pip_check healthy "pip: No broken requirements found" tail 15
mkdir al; cd al; quiet alembic init m; sed -i 's#^sqlalchemy.url.*#sqlalchemy.url = sqlite:////srv/al.db#' alembic.ini; quiet alembic revision -m 'add error table'; : >/mnt/log; run alembic upgrade head; run alembic current
excerpt alembic_upgrade healthy "Alembic: a migration named add error table"
cd ..
cat >sa.py <<'E2'
import sqlalchemy as sa
e = sa.create_engine("sqlite://", echo=True)
with e.begin() as c:
    c.execute(sa.text("create table errors (id integer, message text)"))
    c.execute(sa.text("insert into errors values (1, 'connection refused')"))
    c.execute(sa.text("select * from errors where message like '%timeout%'")).all()
E2
run python sa.py
excerpt sqlalchemy_echo healthy "SQLAlchemy: echoed statements on a table named errors"
cat >as.py <<'E2'
import asyncio, logging, urllib.request, http.server, threading
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s:%(name)s:%(message)s")
async def main():
    asyncio.get_running_loop().set_debug(True); await asyncio.sleep(0.05); await asyncio.to_thread(lambda: None)
    logging.getLogger("retry").debug("retry policy: stop after 3 errors, timeout 5s"); logging.getLogger("pool").info("pool ready, failures=0")
asyncio.run(main())
E2
run python as.py
excerpt asyncio_debug healthy "asyncio: debug level"
mkdir -p dj; cd dj; quiet django-admin startproject shopsite .; mkdir -p shop; : >shop/__init__.py; cat >shop/tests.py <<'E2'
from django.test import SimpleTestCase
class E(SimpleTestCase):
    def test_error_page(self): self.assertEqual(self.client.get("/error/").status_code, 404)
E2
run python manage.py check; run python manage.py test; run python manage.py showmigrations
excerpt django_tests healthy "Django: System check identified no issues (0 silenced), tests pass"
cd ..
cat >Gc.java <<'E2'
class Gc { public static void main(String[] a) { var l = new java.util.ArrayList<byte[]>(); for (int i = 0; i < 400; i++) { l.add(new byte[1 << 18]); if (l.size() > 20) l.clear(); } System.out.println("done, 0 errors"); } }
E2
run java -Xmx32m -Xlog:gc* Gc.java
excerpt java_gc healthy "Java: garbage collection log, Full GCs included" tail 40
run java -XX:+PrintFlagsFinal -version
grep -E 'Error|OOM|OutOfMemory|Crash|Fail|Fatal|version|Panic|Dump' /mnt/log >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt java_flags healthy "Java: flags as OnOutOfMemoryError and CrashOnOutOfMemoryError" tail 40
cat >Jh.java <<'E2'
import com.sun.net.httpserver.*; import java.net.*; import java.util.logging.*;
class Jh { public static void main(String[] a) throws Exception { Logger log = Logger.getLogger("http"); HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", 8085), 0);
 s.createContext("/", x -> { log.info(x.getRequestMethod() + " " + x.getRequestURI() + " status=" + (x.getRequestURI().getPath().equals("/") ? 200 : 404) + " error=none"); x.sendResponseHeaders(x.getRequestURI().getPath().equals("/") ? 200 : 404, -1); });
 s.start(); log.info("Started, ErrorHandler=default, failFast=false"); for (String p : new String[]{"/", "/none", "/error"}) ((HttpURLConnection) new URL("http://127.0.0.1:8085" + p).openConnection()).getResponseCode(); log.warning("No errors in the last 5 minutes; deprecated header X-Error ignored"); s.stop(0); log.info("Stopped"); } }
E2
run java Jh.java
excerpt java_httpserver healthy "Java: a small HTTP server with 404s"
sqlite3 /srv/x.db "create table error(code int); insert into error values(0);"; run sqlite3 -header -echo /srv/x.db 'select * from error; pragma integrity_check;'
excerpt sqlite_ok healthy "sqlite: integrity check ok"
run openssl speed -seconds 1 sha256; run openssl version -a
excerpt openssl_speed healthy "openssl: a measurement"
run ip -s link; run ss -s; run df -h /srv; run free -m
excerpt host_statistics healthy "network and disk statistics with columns errors, dropped" 
run gpg --batch --passphrase '' --quick-gen-key a@app.example; run gpg --list-keys; echo hi >m.txt; run gpg --batch --yes --sign m.txt; run gpg --verify m.txt.gpg
excerpt gpg_sign healthy "gpg: a key is made, a good signature"
run bash -xc 'set -e; ERROR_LOG=/srv/error.log; touch $ERROR_LOG; test -s $ERROR_LOG || echo "no errors logged"; trap "echo exit" EXIT'
excerpt bash_trace healthy "bash -x: a trace with ERROR_LOG"
run rsync -av --stats --itemize-changes /etc/ssl/openssl.cnf /srv/rs/
excerpt rsync_itemized healthy "rsync: itemized changes"
(cd /srv/app; printf '{"name":"app","version":"1.0.0","scripts":{"test":"node --test t.js","start":"node d.js"}}' >package.json; run npm test; run npm start)
excerpt npm_scripts healthy "npm: scripts that succeed" tail 40
run apt-get -s -y --no-install-recommends install cowsay; run dpkg -l libgpg-error0
excerpt apt_simulation healthy "apt-get: a simulated installation, a package named libgpg-error0"
