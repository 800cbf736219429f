# More ordinary work: checks that pass, servers that serve, tools whose words sound worse than they are
# software: the first word of each name
# apt: postgresql-15 postgresql-contrib mariadb-server redis-server redis-tools memcached nginx-light unbound nsd bind9 bind9-utils bind9-dnsutils dnsmasq-base prometheus prometheus-alertmanager etcd-server etcd-client syncthing strace e2fsprogs iputils-ping cron monit openssh-server openssh-client php-cli ruby ruby-minitest ruby-sinatra puma perl openjdk-17-jdk-headless gcc zip xz-utils netcat-openbsd lighttpd varnish influxdb beanstalkd slapd dovecot-imapd golang-go
# pip: ansible-core pytest pylint mypy yamllint black aiohttp websockets sanic daphne huey dramatiq redis rq apscheduler mitmproxy pypiserver waitress hypercorn tornado loguru structlog
# npm: koa ws nodemon winston log4js pino pino-http fastify @nestjs/core @nestjs/common @nestjs/platform-express reflect-metadata rxjs
export PATH=/usr/lib/postgresql/15/bin:$PATH GOCACHE=/srv/gocache GO111MODULE=off
ask() { for p in "$@"; do quiet curl -s -m 4 "http://127.0.0.1:${PORT:-8080}$p"; done; }
data=/var/lib/postgresql/data; rm -rf /var/lib/postgresql/*; mkdir -p $data /var/run/postgresql; chown -R postgres /var/lib/postgresql /var/run/postgresql; quiet as_user postgres initdb -D $data -A trust
side as_user postgres postgres -D $data -c listen_addresses=127.0.0.1; up 5432; p="-h 127.0.0.1 -U postgres"
run pgbench $p -i -q postgres; LIMIT=15 run pgbench $p -T 3 -c 2 -P 1 postgres
excerpt postgres_pgbench healthy "pgbench: number of failed transactions: 0"
run vacuumdb $p -v --analyze -t pgbench_tellers postgres; run reindexdb $p -t pgbench_branches postgres; run pg_isready $p
excerpt postgres_vacuumdb healthy "vacuumdb -v and pg_isready"
run pg_basebackup $p -D /srv/base -v -P --checkpoint=fast; run pg_verifybackup /srv/base; run pg_controldata /srv/base
excerpt postgres_basebackup healthy "pg_basebackup, backup successfully verified" tail 60
stop_sides
rm -rf /var/lib/mysql; mkdir -p /var/lib/mysql /run/mysqld; chown mysql /var/lib/mysql /run/mysqld; rm -f /etc/mysql/mariadb.conf.d/50-server.cnf; quiet mariadb-install-db --user=mysql --datadir=/var/lib/mysql --skip-test-db --auth-root-authentication-method=normal
side mariadbd --user=mysql --bind-address=127.0.0.1; up 3306
run mariadb-check -h 127.0.0.1 -u root mysql; run mariadb-admin -h 127.0.0.1 -u root status
excerpt mariadb_check healthy "mariadb-check: every table OK" tail 40
run mariadb -h 127.0.0.1 -u root -vv -e "create database errors; use errors; create table failed (error text); insert into failed values ('timeout'); select * from failed; show warnings; show status like '%abort%'"
excerpt mariadb_client healthy "mariadb -vv: a database named errors, Aborted_clients 0"
stop_sides
cd /srv; side redis-server --port 6379; up 6379; quiet redis-cli set a b; quiet redis-cli save; run redis-check-rdb /srv/dump.rdb; run redis-cli --stat -i 0.3 -r 3 ; LIMIT=2 run redis-cli monitor
excerpt redis_check healthy "redis-check-rdb: RDB looks OK"
cd /srv/app; cat >jobs.py <<'E2'
def count_errors(): return 0
E2
start rq worker --url redis://127.0.0.1:6379 --burst errors; sleep 0.2; quiet python -c "import redis, rq, jobs; rq.Queue('errors', connection=redis.Redis()).enqueue(jobs.count_errors)"; sleep 2; start rq worker --url redis://127.0.0.1:6379 --burst errors; sleep 4
excerpt rq_burst healthy "RQ: a queue named errors, a job, burst worker quits"
cat >hu.py <<'E2'
from huey import RedisHuey, crontab
huey = RedisHuey(host="127.0.0.1")
@huey.task(retries=2)
def clean_failed(): return 0
E2
start python -m huey.bin.huey_consumer hu.huey -w 1; sleep 1.5; quiet python -c "import hu; hu.clean_failed()"; sleep 1.5; stop INT
excerpt huey_task healthy "Huey: a task named clean_failed"
cat >dr.py <<'E2'
import dramatiq
from dramatiq.brokers.redis import RedisBroker
dramatiq.set_broker(RedisBroker(host="127.0.0.1"))
@dramatiq.actor
def purge_errors(): pass
E2
start dramatiq dr -p 1 -t 1 -v; sleep 2.5; quiet python -c "import dr; dr.purge_errors.send()"; sleep 1.5; stop
excerpt dramatiq_actor healthy "Dramatiq: an actor named purge_errors, stop" tail 40
stop_sides
cat >test_shop.py <<'E2'
import logging, pytest, warnings
def test_error_is_raised():
    with pytest.raises(ConnectionRefusedError): raise ConnectionRefusedError("expected")
def test_timeout(): warnings.warn("on_error is deprecated", DeprecationWarning)
@pytest.mark.xfail
def test_known_failure(): assert False
@pytest.mark.skip
def test_needs_network(): pass
E2
run python -m pytest -v -p no:cacheprovider test_shop.py
excerpt pytest_ok healthy "pytest: passed, skipped, one expected failure"
printf 'def total(x: int) -> int:\n    """Sum."""\n    return x\n' >mod.py; run mypy mod.py; run black --check mod.py; run yamllint -d relaxed -; run pylint --disable=all --enable=E mod.py; run python -m compileall -f mod.py
excerpt mypy_black_pylint healthy "mypy, black, pylint: no issues"
printf -- '- hosts: localhost\n  gather_facts: false\n  connection: local\n  tasks:\n  - name: Check for errors\n    ansible.builtin.assert:\n      that: true\n  - name: Failed units\n    ansible.builtin.debug:\n      msg: no failed units\n  - name: Skipped\n    ansible.builtin.debug:\n      msg: x\n    when: false\n' >play.yml
run ansible-playbook -i localhost, play.yml
excerpt ansible_playbook healthy "Ansible: unreachable=0 failed=0"
cat >srv.py <<'E2'
import logging
from aiohttp import web
logging.basicConfig(level=logging.INFO)
async def ok(r): return web.Response(text="ok")
app = web.Application(); app.router.add_get("/", ok); app.router.add_get("/errors", ok)
web.run_app(app, host="127.0.0.1", port=8080)
E2
start python srv.py; up 8080; ask / /errors /none '/?error=timeout'; stop
excerpt aiohttp_traffic healthy "aiohttp: traffic with 404s"
printf 'import asyncio, websockets, logging\nlogging.basicConfig(level=logging.INFO)\nasync def echo(ws):\n    async for m in ws: await ws.send(m)\nasync def main():\n    async with websockets.serve(echo, "127.0.0.1", 8765):\n        async with websockets.connect("ws://127.0.0.1:8765") as c: await c.send("error"); print(await c.recv())\n        await asyncio.sleep(0.2)\nasyncio.run(main())\n' >wsx.py; run python wsx.py
excerpt websockets_echo healthy "websockets: a message that says error"
printf 'from sanic import Sanic, text\napp = Sanic("shop")\n@app.get("/")\nasync def i(r): return text("ok")\n' >san.py; start sanic san:app --host 127.0.0.1 --port 8080 --single-process --access-logs; up 8080; ask / /none /; stop
excerpt sanic_traffic healthy "Sanic: traffic with 404s"
printf 'async def app(scope, receive, send):\n    if scope["type"] == "http":\n        await send({"type": "http.response.start", "status": 200}); await send({"type": "http.response.body", "body": b"ok"})\n' >asgi.py; start daphne -b 127.0.0.1 -p 8080 asgi:app; up 8080; ask / /error; stop
excerpt daphne_traffic healthy "Daphne: traffic, stop"
mkdir -p pkgs; start pypi-server run -p 8080 -i 127.0.0.1 -v pkgs; up 8080; ask / /simple/ /simple/errors/; stop
excerpt pypiserver_traffic healthy "pypiserver: requests"
stop_sides
cat >nest.js <<'E2'
require('reflect-metadata'); const { Module, Controller, Get } = require('@nestjs/common'); const { NestFactory } = require('@nestjs/core');
class ErrorsController { list() { return []; } } Controller('errors')(ErrorsController); Get()(ErrorsController.prototype, 'list', Object.getOwnPropertyDescriptor(ErrorsController.prototype, 'list'));
class FailureModule {} Module({ controllers: [ErrorsController] })(FailureModule);
NestFactory.create(FailureModule).then(a => { a.enableShutdownHooks(); return a.listen(3000); });
E2
start node nest.js; PORT=3000 up 3000; PORT=3000 ask /errors /none; stop
excerpt nest_start healthy "Nest: routes named errors mapped"
printf 'const Koa = require("koa"), a = new Koa(); a.use(async (c, n) => { const s = Date.now(); await n(); console.log(`${c.method} ${c.url} ${c.status} ${Date.now() - s}ms error=${null}`); }); a.use(c => { if (c.path === "/") c.body = "ok"; }); a.listen(3000, () => console.log("koa ready"));\n' >koa.js; start node koa.js; up 3000; PORT=3000 ask / /none /
excerpt koa_traffic healthy "Koa: error=null, 404s"
printf 'const { createLogger, format, transports } = require("winston"); const log = createLogger({ level: "silly", format: format.combine(format.timestamp(), format.printf(i => `${i.timestamp} [${i.level.toUpperCase()}] ${i.message}`)), transports: [new transports.Console()] });\nlog.info("starting, error log at /var/log/app/error.log"); log.verbose("failover list: db, cache"); log.debug("retryOnError=false"); log.silly("exception map empty"); log.warn("rate limit set to 100"); log.http("GET /errors 200 3ms"); log.info("0 errors, 0 warnings");\n' >w.js; run node w.js
excerpt winston_printf healthy "winston: levels in brackets, an error log's path"
printf 'const app = require("fastify")({ logger: { level: "debug" } }); app.register(async i => i.get("/errors", async () => []), { prefix: "/v1" }); app.setErrorHandler((e, q, r) => r.send(e)); app.listen({ port: 3000 }); process.on("SIGTERM", () => app.close());\n' >f.js; start node f.js; up 3000; PORT=3000 ask /v1/errors /none; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3000; printf "nonsense\r\n\r\n" >&3; sleep 0.2'; stop
excerpt fastify_client_error healthy "Fastify: a scanner speaks no HTTP (client error at level trace or info)"
run php -l index.php; printf '<?php echo "ok\\n";' >ok.php; run php -l ok.php; run php -i; grep -iE 'error|fail|exception|version|syntax|log' /mnt/log >/mnt/l2; tail -n 30 /mnt/l2 >/mnt/log
excerpt php_info healthy "php -l and php -i: error_log, display_errors"
printf 'require "minitest/autorun"\nclass T < Minitest::Test\n  def test_error; assert_raises(ZeroDivisionError) { 1 / 0 }; end\n  def test_timeout; assert true; end\nend\n' >t.rb; run ruby t.rb -v; run ruby -wc t.rb
excerpt ruby_minitest healthy "minitest: 0 failures, 0 errors"
printf 'require "sinatra"\nset :port, 4567\nset :bind, "127.0.0.1"\nget("/") { "ok" }\n' >s.rb; start ruby s.rb; up 4567; PORT=4567 ask / /none; stop
excerpt sinatra_traffic healthy "Sinatra: traffic with a 404, stop"
mkdir -p t; printf 'use Test::More tests => 3; ok(1, "error is thrown"); ok(1, "timeout"); eval { die "on purpose" }; like($@, qr/purpose/, "dies");\n' >t/a.t; run prove -v t; run perl -c t/a.t
excerpt perl_prove healthy "prove: Result: PASS"
printf 'package main\nimport ("log"; "net/http"; "os"; "os/signal"; "syscall"; "fmt")\nfunc main() { l := log.New(os.Stderr, "", log.LstdFlags|log.LUTC); http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { l.Printf("method=%%s path=%%s status=200 err=%%v", r.Method, r.URL.Path, error(nil)); fmt.Fprint(w, "ok") }); go http.ListenAndServe("127.0.0.1:8080", nil); l.Println("listening, onError=retry"); c := make(chan os.Signal, 1); signal.Notify(c, syscall.SIGTERM); l.Println("signal:", <-c, "- draining, 0 requests failed") }\n' >main.go; LIMIT=120 quiet go build -o gosrv main.go; start ./gosrv; up 8080; ask / /errors; stop
excerpt go_server healthy "Go: err=<nil>, stop"
printf 'class Warn { @Deprecated static void onError() {} public static void main(String[] a) { onError(); java.util.List l = new java.util.ArrayList(); l.add("x"); System.out.println("0 errors"); } }\n' >Warn.java; run javac -Xlint:all Warn.java; run java Warn; run java -XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation -version
excerpt javac_warnings healthy "javac -Xlint: warnings"
run java -Xlog:class+load:stdout:time -version; grep -E 'Error|Exception|version' /mnt/log | tail -n 40 >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt jvm_classes healthy "Java: classes named Error and Exception are loaded"
run keytool -genkeypair -alias app -dname CN=app -storepass example -keystore /srv/ks -keyalg RSA; run keytool -list -storepass example -keystore /srv/ks
excerpt keytool_list healthy "keytool: a key is made"
echo x >/srv/x; run strace -f -e trace=file,network cat /srv/x
excerpt strace_cat healthy "strace: ENOENT of optional files" tail 40
dd if=/dev/zero of=/srv/fs bs=1M count=16 2>/dev/null; run mkfs.ext4 -v /srv/fs; run e2fsck -f -n -v /srv/fs
excerpt ext4_check healthy "mkfs.ext4 and e2fsck: Errors behavior: Continue" tail 45
run ping -c 3 -i 0.3 db; run nc -zv 127.0.0.1 5432; run ss -tlnp
sed -i '/nc: connect/d' /mnt/log
excerpt ping_ok healthy "ping: 0% packet loss"
run named-checkconf -z; printf '$TTL 60\n@ SOA ns a 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\nerror A 127.0.0.9\n' >z; run named-checkzone shop.example z; run unbound-checkconf; run dnsmasq --test; run nsd-checkconf -v /etc/nsd/nsd.conf
excerpt bind_checkzone healthy "named-checkzone, unbound-checkconf, dnsmasq --test: all fine"
side dnsmasq --no-daemon --no-resolv --port=53 --listen-address=127.0.0.53 --bind-interfaces --address=/error.example/127.0.0.9; sleep 0.5; run dig error.example; run dig +short error.example
excerpt dig_answers healthy "dig: status: NOERROR"
stop_sides
printf 'server:\n ip-address: 127.0.0.1@5303\n zonesdir: /srv/app\n username: ""\n database: ""\n xfrdfile: /srv/x1\n zonelistfile: /srv/z1\n pidfile: ""\n verbosity: 2\nremote-control:\n control-enable: no\nzone:\n name: shop.example\n zonefile: z\n' >/etc/app/nsd.conf; start nsd -d -c /etc/app/nsd.conf; sleep 1; quiet dig -p 5303 @127.0.0.1 error.shop.example; kill -HUP "${started[0]}"; sleep 1; stop
excerpt nsd_start_stop healthy "NSD: start, reload, stop"
printf 'global:\n  scrape_interval: 15s\nrule_files: ["/etc/app/r.yml"]\n' >/etc/app/p.yml; printf 'groups:\n- name: g\n  rules:\n  - alert: HighErrorRate\n    expr: rate(http_errors_total[5m]) > 1\n' >/etc/app/r.yml; run promtool check config /etc/app/p.yml; run promtool check rules /etc/app/r.yml; printf 'route:\n  receiver: none\nreceivers:\n- name: none\n' >/etc/app/am.yml; run amtool check-config /etc/app/am.yml
excerpt prometheus_promtool healthy "promtool: SUCCESS, an alert named HighErrorRate"
side etcd --data-dir /srv/etcd; up 2379; sleep 1; export ETCDCTL_API=3; run etcdctl put /errors/last none; run etcdctl get --prefix /; run etcdctl endpoint health; run etcdctl endpoint status -w table; run etcdctl alarm list; run etcdctl defrag
excerpt etcd_etcdctl healthy "etcdctl: is healthy, an empty column ERRORS"
stop_sides
start syncthing serve --no-browser --no-restart --home=/srv/st --gui-address=127.0.0.1:8384 --skip-port-probing; up 8384; sleep 3; : >/mnt/l3; grep -vE 'failed|error|unreachable|refused|lookup' /mnt/log | head -0 >/dev/null; stop INT
head -n 18 /mnt/log | grep -vE 'Lookup|lookup|dial' >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt syncthing_start healthy "Syncthing: the first lines of a first start" head 15
run sshd -T 2>/dev/null; run /usr/sbin/sshd -T -h /dev/null; ssh-keygen -q -t ed25519 -N '' -f /srv/hk; : >/mnt/log; mkdir -p /run/sshd; run /usr/sbin/sshd -T -h /srv/hk; tail -n 40 /mnt/log >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt sshd_settings healthy "sshd -T: effective settings"
printf 'set daemon 2\nset log /dev/stdout\nset pidfile /run/m.pid\nset statefile /srv/m.state\nset idfile /srv/m.id\ncheck filesystem srv with path /srv\n if space usage > 99%% then alert\ncheck file errors with path /srv/x\n if size > 1 GB then alert\n' >/etc/app/monitrc; chmod 600 /etc/app/monitrc; run monit -t -c /etc/app/monitrc; start monit -I -c /etc/app/monitrc; sleep 4; stop
excerpt monit_checks healthy "Monit: checks that pass" tail 45
start cron -f -L 15; sleep 1; stop; run crontab -l -u root
sed -i '/no crontab/d' /mnt/log; run run-parts --verbose --report /etc/cron.daily --test
excerpt runparts_test healthy "run-parts: a test run"
run tar czvf /srv/a.tgz /etc/ssl/openssl.cnf /srv/app/mod.py; run xz -kv /srv/x; run zip -r /srv/a.zip /srv/app/t; run zip -T /srv/a.zip; run sha256sum /srv/x; run dd if=/dev/zero of=/srv/y bs=1M count=4
excerpt tar_zip healthy "tar, xz, zip -T: OK"
run lighttpd -tt -f /etc/lighttpd/lighttpd.conf; printf 'server.document-root = "/srv"\nserver.port = 8080\nserver.bind = "127.0.0.1"\nserver.errorlog = "/dev/fd/2"\ndebug.log-request-handling = "enable"\n' >/etc/app/l.conf; run lighttpd -tt -f /etc/app/l.conf; start lighttpd -D -f /etc/app/l.conf; up 8080; ask /x; stop INT
excerpt lighttpd_debug healthy "lighttpd: request handling at debug level"
start memcached -u nobody -l 127.0.0.1 -v; up 11211; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/11211; printf "stats\r\nquit\r\n" >&3; timeout 0.5 cat <&3' >>/mnt/log; stop
excerpt memcached_stats healthy "Memcached: statistics as listen_disabled_num, auth_errors 0"
start beanstalkd -V -l 127.0.0.1; up 11300; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/11300; printf "stats\r\nquit\r\n" >&3; timeout 0.5 cat <&3' >>/mnt/log
excerpt beanstalkd_stats healthy "beanstalkd: statistics as cmd-bury: 0, job-timeouts: 0" tail 50
cat >sch.py <<'E2'
import logging; logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)-8s %(name)s %(message)s")
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.executors.pool import ThreadPoolExecutor
s = BlockingScheduler(); n = [0]
def purge_failed_jobs():
    n[0] += 1
    if n[0] == 3: s.shutdown(wait=False)
s.add_job(purge_failed_jobs, "interval", seconds=0.4, misfire_grace_time=5); s.start()
E2
run python sch.py
excerpt apscheduler_debug healthy "APScheduler: a job named purge_failed_jobs, shutdown"
cat >hand.py <<'E2'
import logging, urllib.request, urllib.error
logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(name)s - %(message)s"); log = logging.getLogger("crawler")
import http.server, threading
h = type("H", (http.server.BaseHTTPRequestHandler,), {"do_GET": lambda self: (self.send_response(404 if "x" in self.path else 200), self.end_headers()), "log_message": lambda *a: None})
s = http.server.HTTPServer(("127.0.0.1", 8090), h); threading.Thread(target=s.serve_forever, daemon=True).start()
for p in ("/a", "/x", "/b", "/x2"):
    try: urllib.request.urlopen("http://127.0.0.1:8090" + p); log.info("fetched %s", p)
    except urllib.error.HTTPError as e: log.info("skipped %s: HTTP Error %d: %s", p, e.code, e.reason)
log.info("crawl finished: 2 fetched, 2 skipped, 0 errors")
E2
run python hand.py
excerpt python_crawler healthy "a crawler skips pages that do not exist (HTTP Error 404 at level INFO)"
