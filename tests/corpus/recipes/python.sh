# Python programs with the standard logging
# pip: requests httpx aiohttp psycopg[binary] redis pika kafka-python pymysql
names
py() { cat >/srv/app/app.py; run python /srv/app/app.py; }
LOGGING='import logging; logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"); log = logging.getLogger("orders")'

py <<END
$LOGGING
import requests
log.info("starting import of 3 files")
try:
    requests.get("http://api:9000/v1/items", timeout=2)
except requests.RequestException:
    log.exception("import failed")
END
excerpt requests_refused "NETWORK_ERROR net:refused LOG_ERROR" "requests asks a port without listener"
py <<END
$LOGGING
import httpx
log.info("sync started")
httpx.get("http://inventory.internal.example/items")
END
excerpt httpx_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "httpx asks a name that does not exist"
py <<END
$LOGGING
import requests
log.info("nightly report")
requests.get("http://slow:9000/report", timeout=(1.5, 3))
END
excerpt requests_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the peer are dropped"
side resetting_server 9001; sleep 0.4
py <<END
$LOGGING
import http.client
log.info("posting 14 rows")
try:
    c = http.client.HTTPConnection("127.0.0.1", 9001); c.request("POST", "/rows", "x" * 200); c.getresponse()
except OSError as error:
    log.error("could not post rows: %s", error)
    raise SystemExit(1)
END
excerpt http_reset "NETWORK_ERROR net:reset LOG_ERROR" "the peer resets the connection"
certificate api -1; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443
py <<END
$LOGGING
import requests
for attempt in range(2):
    try:
        requests.get("https://127.0.0.1:9443/", timeout=2)
    except requests.exceptions.SSLError as e:
        log.error("payment gateway: %s", e)
END
excerpt requests_certificate "NETWORK_ERROR net:tls LOG_ERROR" "self-signed certificate"
py <<END
$LOGGING
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession() as s:
        await s.get("http://remote:80/")
asyncio.run(main())
END
excerpt aiohttp_unreachable "NETWORK_ERROR net:unreachable LOG_ERROR" "no route to the peer"
py <<END
$LOGGING
import psycopg
log.info("connecting to the database")
psycopg.connect("host=db port=5432 user=app password=example dbname=shop connect_timeout=2")
END
excerpt psycopg_refused "NETWORK_ERROR net:refused LOG_ERROR" "the database does not listen"
py <<END
$LOGGING
import redis
try:
    redis.Redis("cache").ping()
except redis.exceptions.ConnectionError as e:
    log.critical("no cache, cannot go on: %s", e)
    raise SystemExit(2)
END
excerpt redis_refused "NETWORK_ERROR net:refused LOG_ERROR" "redis does not listen"
py <<END
$LOGGING
import pika
pika.BlockingConnection(pika.ConnectionParameters("queue", connection_attempts=2, retry_delay=0.2))
END
excerpt pika_refused "NETWORK_ERROR net:refused LOG_ERROR" "the broker does not listen" tail 60
cat >/srv/late.py <<'END'
import socket, time
time.sleep(3)
s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(("127.0.0.4", 9100)); s.listen()
while True:
    c, _ = s.accept(); c.recv(999); c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); c.close()
END
side python /srv/late.py
py <<END
$LOGGING
import time, urllib.request
log.info("waiting for api:9100")
for attempt in range(1, 20):
    try:
        urllib.request.urlopen("http://api:9100/", timeout=1).read()
        break
    except OSError as e:
        log.warning("api is not there yet (attempt %d): %s", attempt, e)
        time.sleep(1)
log.info("connected to api:9100 after %d attempts", attempt)
log.info("worker ready, 4 queues")
log.info("processed batch: 120 items, errors: 0, failed: 0")
END
excerpt waited_for_peer healthy "the peer came up three seconds later, all went well then"
py <<END
$LOGGING
for batch in range(1, 9):
    log.info("batch %d done: rows=%d errors=0 retries=0 timeout=30s", batch, batch * 120)
log.info("error budget left: 100%%; error rate 0.0")
log.info("Loaded plugin error_handler, exception_mapper, fatal_hook")
log.info("finished without errors")
END
excerpt batches healthy "a batch job that says errors=0"
py <<END
$LOGGING
import warnings, asyncio
logging.captureWarnings(True)
log.info("started")
warnings.warn("errors= is deprecated, use on_error= instead", DeprecationWarning)
warnings.warn("parse_failed() will be removed in 3.0", FutureWarning)
try:
    int("n/a")
except ValueError as e:
    log.debug("not a number: %s", e)
log.info("41 of 41 checks passed; 0 failures")
END
excerpt deprecations healthy "deprecation warnings"
py <<END
$LOGGING
import yaml_loader_not_there
END
excerpt module_missing "missing_dependency LOG_ERROR" "a module that is not installed"
py <<END
$LOGGING
log.info("loading settings")
open("/etc/app/settings.toml")
END
excerpt file_missing "missing_dependency LOG_ERROR" "a file that is not there"
py <<END
import os
token = os.environ["API_TOKEN"]
END
excerpt variable_missing "config_error LOG_ERROR" "a required environment variable is not set"
py <<END
$LOGGING
import subprocess
log.info("making thumbnails")
subprocess.run(["ffmpeg", "-version"], check=True)
END
excerpt command_missing "missing_dependency LOG_ERROR" "a command that is not installed"
echo secret >/etc/app/token; chmod 600 /etc/app/token
cat >/srv/app/app.py <<END
$LOGGING
log.info("reading the token")
print(open("/etc/app/token").read())
END
run as_user nobody python /srv/app/app.py
excerpt file_forbidden "permission LOG_ERROR" "a file the user may not read"
cat >/srv/app/app.py <<END
import http.server
http.server.HTTPServer(("", 80), http.server.SimpleHTTPRequestHandler)
END
echo 1024 >/proc/sys/net/ipv4/ip_unprivileged_port_start
run as_user nobody python /srv/app/app.py
excerpt low_port_forbidden "permission LOG_ERROR" "a port below 1024 without the right"
side silent_server 8000; sleep 0.4; run python -m http.server 8000
excerpt http_server_port "port_in_use LOG_ERROR" "the port is taken"
stop_sides
start python -m http.server 8000; up 8000
for p in / /nothing /favicon.ico /; do quiet curl -s "http://127.0.0.1:8000$p"; done
excerpt http_server_traffic healthy "traffic with 404s"
small_disk /srv/data; fill /srv/data
py <<END
$LOGGING
import shutil
log.info("writing export")
try:
    with open("/srv/data/export.csv", "w") as f:
        for i in range(100000): f.write(f"{i};item\n")
except OSError:
    log.exception("export failed")
END
excerpt disk_full "DISK_PRESSURE disk:full LOG_ERROR" "the volume is full"
mount -o remount,ro /srv/data
py <<END
$LOGGING
from pathlib import Path
Path("/srv/data/state.json").write_text("{}")
END
excerpt read_only "permission disk:readonly LOG_ERROR" "the volume was remounted read-only"
cat >/srv/app/app.py <<END
$LOGGING
log.info("loading the model")
cache = []
while True: cache.append(bytearray(8 * 1024 * 1024))
END
run bash -c 'ulimit -v 300000; exec python /srv/app/app.py'
excerpt memory_error "LOG_ERROR mem:refused" "allocation refused by ulimit: MemoryError"
py <<END
$LOGGING
rows = [{"id": 1, "total": "12"}, {"id": 2}]
log.info("summing %d rows", len(rows))
print(sum(float(r["total"]) for r in rows))
END
excerpt key_error "LOG_ERROR" "a defect of the program: KeyError"
py <<END
import json
print("loading state")
json.loads('{"jobs": [1, 2, ')
END
excerpt broken_json "LOG_ERROR" "a truncated JSON file"
py <<END
$LOGGING
import configparser
c = configparser.ConfigParser(); c.read_string("[server]\nport = eighty\n")
c.getint("server", "port")
END
excerpt bad_number "config_error LOG_ERROR" "a port in the configuration that is no number"
py <<END
import faulthandler, ctypes
faulthandler.enable()
print("native codec loaded")
ctypes.string_at(0)
END
excerpt segfault "LOG_ERROR crash" "a segmentation fault in native code"
