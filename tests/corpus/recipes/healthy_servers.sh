# Servers in ordinary work: what they say when nothing is wrong, however it sounds
# software: the first word of each name
# apt: nginx-light apache2-bin haproxy caddy redis-server redis-tools postgresql-15 mosquitto mosquitto-clients nats-server memcached dnsmasq-base supervisor monit prometheus squid varnish pgbouncer influxdb gearman-job-server nsd
# pip: gunicorn uvicorn celery redis
u=http://127.0.0.1:8080
ask() { for p in "$@"; do quiet curl -s -m 4 "$u$p"; done; }
mkdir -p /srv/www /var/log/nginx /var/lib/nginx /run/apache2; echo hello >/srv/www/index.html
ng() { printf 'user www-data; daemon off; pid /run/nginx.pid; error_log stderr %s;\nevents { }\nhttp { log_format j escape=json %s; access_log /dev/stdout %s; server { listen 8080; root /srv/www; %s } }\n' "${LEVEL:-info}" "'{\"time\":\"\$time_iso8601\",\"status\":\$status,\"request\":\"\$request\",\"error\":\"\",\"upstream_status\":\"\$upstream_status\"}'" "${FORMAT:-combined}" "$1" >/etc/nginx/nginx.conf; }
ng ''; run nginx -t; run nginx -T
excerpt nginx_test healthy "nginx: a configuration test that succeeds"
FORMAT=j ng 'location = /error { return 204; }'; start nginx; up 8080; : >/mnt/log; ask / /error /x '/?q=timeout' / /favicon.ico /error
excerpt nginx_json_access healthy "nginx: JSON access log with an empty field error"
ng 'location /health { return 200 "ok"; } location /old { return 301 /; }'; start nginx; up 8080; : >/mnt/log; for _ in 1 2 3 4; do ask /health /health /old /; done; ask '/api/errors?level=fatal' '/images/500.png'
excerpt nginx_health_checks healthy "nginx: health checks, redirects, 404s with telling names"
ng 'location /admin { deny all; }'; start nginx; up 8080; : >/mnt/log; ask /admin/config.php / /.env /admin/
excerpt nginx_denied_scanner healthy "nginx: a scanner is denied what the configuration denies"
ap() { m=/usr/lib/apache2/modules; printf 'ServerName shop.example\nListen 127.0.0.1:8080\nPidFile /run/apache2/httpd.pid\nUser www-data\nGroup www-data\nLoadModule mpm_event_module %s/mod_mpm_event.so\nLoadModule authz_core_module %s/mod_authz_core.so\nLoadModule dir_module %s/mod_dir.so\nErrorLog /proc/self/fd/2\nLogLevel info\nCustomLog /proc/self/fd/1 "%%h %%l %%u %%t \\"%%r\\" %%>s %%b"\nDocumentRoot /srv/www\n<Directory /srv/www>\nRequire all granted\n</Directory>\n%s\n' $m $m $m "$1" >/etc/app/a.conf; }
ap ''; run apache2 -t -f /etc/app/a.conf; run apache2 -S -f /etc/app/a.conf
excerpt apache_test healthy "Apache: a configuration test that succeeds"
ap '<Location /server-status>
Require all denied
</Location>'; start bash -c 'exec apache2 -DFOREGROUND -f /etc/app/a.conf 2>&1 | cat'; up 8080; : >/mnt/log; ask / /server-status /cgi-bin/error.cgi /server-status /
excerpt apache_denied_scanner healthy "Apache: a scanner is denied what the configuration denies (AH01630)"
printf 'global\n log stdout format raw local0\ndefaults\n mode http\n log global\n option httplog\n timeout connect 1s\n timeout client 3s\n timeout server 3s\nfrontend web\n bind 127.0.0.1:8080\n default_backend app\nbackend app\n option httpchk GET /\n server a1 127.0.0.4:9000 check inter 300ms rise 1\n server a2 127.0.0.5:9000 check inter 300ms rise 1 backup\n' >/etc/app/h.cfg
side python3 -m http.server -b 127.0.0.5 -d /srv/www 9000; side python3 -m http.server -b 127.0.0.4 -d /srv/www 9000; up 9000 127.0.0.4; up 9000 127.0.0.5
run haproxy -c -f /etc/app/h.cfg; start haproxy -f /etc/app/h.cfg; up 8080; sleep 0.7; ask / /none / / /error
excerpt haproxy_traffic healthy "HAProxy: a configuration test and traffic with 404s"
kill "${sides[1]}"; sleep 0.3; start haproxy -f /etc/app/h.cfg; up 8080; sleep 1; : >/mnt/log; side python3 -m http.server -b 127.0.0.4 -d /srv/www 9000; sleep 1.5; ask / / /
excerpt haproxy_server_back healthy "HAProxy: a server comes up again"
stop_sides
printf '{\n admin off\n}\n:8080 {\n log\n respond "no errors"\n}\n' >/etc/app/Caddyfile; run caddy validate --config /etc/app/Caddyfile --adapter caddyfile
excerpt caddy_validate healthy "Caddy: a configuration test that succeeds"
start caddy run --config /etc/app/Caddyfile --adapter caddyfile; up 8080; : >/mnt/log; ask / '/?error=none' /x
excerpt caddy_access healthy "Caddy: access log"
cd /srv; mkdir -p redis; cd redis
start redis-server --appendonly yes --auto-aof-rewrite-min-size 1kb --auto-aof-rewrite-percentage 10; up 6379; quiet redis-benchmark -q -n 3000 -t set,lpush; quiet redis-cli bgrewriteaof; sleep 2; 
excerpt redis_aof_rewrite healthy "Redis: append-only file rewritten" tail 35
start redis-server; up 6379; : >/mnt/log; quiet redis-cli set error none; run redis-cli get error; run redis-cli info stats; run redis-cli info errorstats; run redis-cli info persistence
excerpt redis_statistics healthy "Redis: statistics with rdb_last_bgsave_status, total_error_replies"
start redis-server --loglevel verbose; up 6379; : >/mnt/log; for i in 1 2 3; do timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/6379; printf "PING\r\n" >&3; sleep 0.1'; done; sleep 1; quiet redis-cli shutdown nosave; sleep 1
excerpt redis_clients healthy "Redis: clients come and go, SHUTDOWN"
start redis-server --port 26379 --sentinel; sleep 0.1; stop; printf 'port 26379\nsentinel monitor main 127.0.0.1 6379 1\n' >s.conf; side redis-server; up 6379; : >/mnt/log; start redis-server s.conf --sentinel; sleep 1.5; stop
excerpt redis_sentinel healthy "Redis Sentinel: watches a master that is there"
stop_sides; cd /srv/app
export PATH=/usr/lib/postgresql/15/bin:$PATH; data=/var/lib/postgresql/data; rm -rf /var/lib/postgresql/*; mkdir -p $data /var/run/postgresql; chown -R postgres /var/lib/postgresql /var/run/postgresql; quiet as_user postgres initdb -D $data -A trust
sql() { quiet psql -X -h 127.0.0.1 -U postgres -c "$1"; }
pg() { start as_user postgres postgres -D $data -c listen_addresses=127.0.0.1 "$@"; said 'ready to accept'; : >/mnt/log; }
pg -c log_checkpoints=on -c log_autovacuum_min_duration=0 -c autovacuum_naptime=1s -c log_temp_files=0 -c work_mem=64kB; sql 'create table error_log as select n, md5(n::text) m from generate_series(1,30000) n'; sql 'delete from error_log where n % 2 = 0'; sql 'select m from error_log order by m'; sql checkpoint; sleep 2.5
excerpt postgres_maintenance healthy "PostgreSQL: checkpoints, autovacuum, temporary files; a table named error_log"
pg; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/5432; printf "\0\0\0\10\4\322\26/" >&3; sleep 0.2'; quiet python3 -c '
import socket, struct
s = socket.create_connection(("127.0.0.1", 5432)); m = b"\0\3\0\0user\0postgres\0\0"; s.send(struct.pack("!I", len(m) + 4) + m); s.recv(999); s.setsockopt(1, 13, struct.pack("ii", 1, 0)); s.close()'; sleep 0.5
excerpt postgres_client_reset healthy "PostgreSQL: a client goes away without saying goodbye"
pg; side psql -X -h 127.0.0.1 -U postgres -c 'select pg_sleep(30)'; sleep 0.7; stop INT
excerpt postgres_fast_shutdown healthy "PostgreSQL: a planned shutdown ends a session (FATAL: terminating connection due to administrator command)"
stop_sides; pg; sql 'create database shop'; : >/mnt/log; run psql -X -h 127.0.0.1 -U postgres -c 'create table if not exists x(error text)' -c 'create table if not exists x(error text)' -c "insert into x values ('none'), ('timeout=0')" -c 'select * from x'; run pg_dump -v -h 127.0.0.1 -U postgres -t x postgres
excerpt postgres_dump healthy "psql and pg_dump -v: a notice, a column named error"
stop
start mosquitto -v -p 1883; up 1883; side timeout 3 mosquitto_sub -h 127.0.0.1 -t 'alarm/#' -k 2; sleep 0.3; for i in 1 2; do quiet mosquitto_pub -h 127.0.0.1 -t alarm/error -m 0; done; sleep 3.5
excerpt mosquitto_verbose healthy "Mosquitto: verbose, topics named alarm/error"
start nats-server -a 127.0.0.1 -D -V; up 4222; timeout 2 bash -c 'exec 3<>/dev/tcp/127.0.0.1/4222; printf "CONNECT {\"verbose\":false}\r\nSUB errors 1\r\nPUB errors 2\r\nok\r\nPING\r\n" >&3; sleep 0.5'; sleep 0.3; stop INT
excerpt nats_trace healthy "NATS: traced messages on a subject named errors"
printf '[supervisord]\nnodaemon=true\nuser=root\npidfile=/run/s.pid\nlogfile=/dev/null\n[program:web]\ncommand=python3 -m http.server -b 127.0.0.1 8080\nstartsecs=1\n[program:once]\ncommand=true\nautorestart=false\nstartsecs=0\n' >/etc/app/sup.conf
start supervisord -c /etc/app/sup.conf; up 8080; sleep 1.5; stop
excerpt supervisor_start_stop healthy "Supervisor: a service and a one-shot program, stop"
start dnsmasq --no-daemon --log-queries --log-dhcp --no-resolv --port=5302 --listen-address=127.0.0.1 --bind-interfaces --dhcp-range=10.9.0.20,10.9.0.30 --address=/error.example/127.0.0.9; sleep 0.5; for n in error.example timeout.example error.example; do quiet dig +short -p 5302 @127.0.0.1 $n; done; kill -HUP "${started[0]}"; kill -USR1 "${started[0]}"; sleep 0.3
excerpt dnsmasq_statistics healthy "dnsmasq: queries, statistics with failed 0"
cat >app.py <<'E2'
import sys
def app(environ, start):
    if environ["PATH_INFO"] == "/log": print("INFO checkout finished, errors: 0", file=sys.stderr)
    start("200 OK" if environ["PATH_INFO"] in ("/", "/log") else "404 Not Found", []); return [b"x"]
E2
start gunicorn -w 2 -b 127.0.0.1:8080 --log-level debug app:app; up 8080; ask / /log /error /; kill -TTIN "${started[0]}"; sleep 1; kill -TTOU "${started[0]}"; sleep 1.5; stop
excerpt gunicorn_debug healthy "gunicorn: debug level with settings as errorlog and on_exit, workers added and taken away" tail 60
printf 'async def app(scope, receive, send):\n    if scope["type"] == "http":\n        await send({"type": "http.response.start", "status": 200}); await send({"type": "http.response.body", "body": b"ok"})\n' >asgi.py
start uvicorn --port 8080 --lifespan on asgi:app; up 8080; ask / /error '/?err=timeout'; stop
excerpt uvicorn_lifespan healthy "uvicorn: an application without lifespan support"
printf 'from celery import Celery\napp = Celery("beat", broker="redis://127.0.0.1:6379/0")\napp.conf.broker_connection_retry_on_startup = True\n@app.task\ndef clean_failed(): return "0 failed jobs removed"\napp.conf.beat_schedule = {"clean": {"task": "beat.clean_failed", "schedule": 0.7}}\n' >beat.py
side redis-server; up 6379; start celery -A beat worker -B -c 1 -l info; said 'clean_failed.*succeeded'; sleep 1.5; stop
excerpt celery_beat healthy "Celery beat: a task named clean_failed" tail 50
stop_sides; LIMIT=3 start celery -A beat worker -c 1 -l info; sleep 6; side redis-server; said 'ready' 120; sleep 0.5
excerpt celery_broker_came healthy "Celery: the broker came up a few seconds after the worker" tail 45
stop_sides
printf 'http_port 127.0.0.1:3128\naccess_log stdio:/dev/stdout\ncache_log stdio:/dev/stderr\nhttp_access allow all\npid_filename /run/squid2.pid\nshutdown_lifetime 1 seconds\ncoredump_dir /srv\nvisible_hostname app\n' >/etc/app/s.conf; run squid -k parse -f /etc/app/s.conf
excerpt squid_parse healthy "Squid: a configuration test that succeeds" tail 40
start gearmand --verbose INFO -l stderr -L 127.0.0.1; up 4730; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/4730; printf "status\nworkers\n" >&3; sleep 0.3'; stop
excerpt gearmand_status healthy "Gearman: status asked, stop"
printf 'reporting-disabled = true\n[meta]\n dir = "/srv/i/meta"\n[data]\n dir = "/srv/i/data"\n wal-dir = "/srv/i/wal"\n[http]\n bind-address = "127.0.0.1:8086"\n' >/etc/app/influx.conf
start influxd -config /etc/app/influx.conf; up 8086; quiet curl -s -XPOST 'http://127.0.0.1:8086/query' --data-urlencode 'q=CREATE DATABASE errors'; quiet curl -s -XPOST 'http://127.0.0.1:8086/write?db=errors' --data-binary 'http_errors value=0'; sleep 0.5; stop
excerpt influxdb_write healthy "InfluxDB: start, a write into the database errors, stop" tail 60
printf '[databases]\nshop = host=127.0.0.1 dbname=postgres user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = 6432\nauth_type = any\nstats_period = 1\nlogfile =\npidfile =\n' >/etc/app/pgb.ini
pg; as_user postgres pgbouncer /etc/app/pgb.ini >>/mnt/log 2>&1 & sleep 1; quiet psql -X -h 127.0.0.1 -p 6432 -U postgres shop -c 'select 1'; sleep 2
excerpt pgbouncer_stats healthy "PgBouncer: a client and statistics"
pkill pgbouncer; stop
cd /srv; start prometheus-node-exporter --web.listen-address=127.0.0.1:9100 --collector.disable-defaults --collector.loadavg --collector.meminfo --collector.textfile; up 9100; stop
excerpt node_exporter_few healthy "node exporter: a few collectors"
mkdir -p /srv/cd; printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\nroot = "/srv/cd/root"\nstate = "/run/cd"\n[grpc]\n address = "/run/cd/c.sock"\n' >/etc/app/cd.toml
start containerd --config /etc/app/cd.toml; said 'successfully booted'; stop
excerpt containerd_start healthy "containerd: start; plugins that do not fit are skipped with error=" tail 60
