# Python loggers and workers: structlog, loguru, python-json-logger, Celery, RQ, Scrapy, APScheduler, paho, kafka
# software: the first word of each name
# pip: structlog loguru python-json-logger celery redis rq huey scrapy apscheduler paho-mqtt kafka-python pymongo pymysql dramatiq alembic radicale jupyter-server mitmproxy
names
py() { cat >/srv/app/app.py; run python /srv/app/app.py "$@"; }
py <<'E2'
import structlog
log = structlog.get_logger()
for i in range(5): log.info("page imported", page=i, errors=0, failed=[])
log.warning("option on_error is deprecated"); log.info("import finished", error=None)
E2
excerpt structlog_ok healthy "structlog: errors=0 error=None"
py <<'E2'
import structlog, urllib.request
structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), structlog.processors.format_exc_info, structlog.processors.JSONRenderer()])
log = structlog.get_logger(); log.info("polling", url="http://api:9000/")
try: urllib.request.urlopen("http://api:9000/", timeout=1)
except OSError: log.exception("poll failed")
E2
excerpt structlog_json_refused "NETWORK_ERROR net:refused LOG_ERROR" "structlog JSON: the peer does not listen"
py <<'E2'
from loguru import logger
for i in range(4): logger.info("synced {} rows, errors: 0", i * 40)
logger.success("all good, nothing failed"); logger.debug("error handler idle"); logger.warning("cache is cold")
E2
excerpt loguru_ok healthy "loguru: errors: 0"
py <<'E2'
from loguru import logger
@logger.catch
def settle(rows): return sum(r["total"] for r in rows) / len(rows)
logger.info("settling"); settle([])
E2
excerpt loguru_exception "LOG_ERROR" "loguru: a division by zero"
py <<'E2'
import logging, smtplib
from pythonjsonlogger import jsonlogger
h = logging.StreamHandler(); h.setFormatter(jsonlogger.JsonFormatter("%(asctime)s %(levelname)s %(name)s %(message)s")); logging.getLogger().addHandler(h); logging.getLogger().setLevel("INFO")
log = logging.getLogger("mailer"); log.info("sending 3 mails")
try: smtplib.SMTP("mail.internal", 25, timeout=2)
except OSError: log.exception("mail not sent")
E2
excerpt json_logger_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "python-json-logger: a name that does not exist"
py <<'E2'
import logging, sys
from pythonjsonlogger import jsonlogger
h = logging.StreamHandler(); h.setFormatter(jsonlogger.JsonFormatter("%(asctime)s %(levelname)s %(name)s %(message)s", rename_fields={"levelname": "severity"})); logging.getLogger().addHandler(h); logging.getLogger().setLevel("INFO")
log = logging.getLogger("mailer")
for i in range(6): log.info("mail sent", extra={"error": None, "failed": 0, "status": 200})
E2
excerpt json_logger_ok healthy "python-json-logger: error: null"
side redis-server --port 6379; up 6379
cat >tasks.py <<'E2'
from celery import Celery
app = Celery("tasks", broker="redis://127.0.0.1:6379/0", backend="redis://127.0.0.1:6379/0")
app.conf.broker_connection_retry_on_startup = True
@app.task
def add(a, b): return a + b
@app.task
def divide(a, b): return a / b
@app.task(bind=True, max_retries=3, default_retry_delay=0.2)
def flaky(self):
    if self.request.retries < 2: raise self.retry(exc=ConnectionError("api is busy"))
    return "ok"
E2
send() { quiet python -c "import tasks; tasks.$1"; }
start celery -A tasks worker -c 1 -l info; said 'ready'; send 'add.delay(1,2)'; send 'add.delay(3,4)'; sleep 0.5; stop
excerpt celery_tasks healthy "Celery: start, tasks, warm shutdown" tail 60
start celery -A tasks worker -c 1 -l info; said 'ready'; send 'divide.delay(1,0)'; sleep 1
excerpt celery_exception "LOG_ERROR" "Celery: a task raises" tail 45
start celery -A tasks worker -c 1 -l info; said 'ready'; send 'flaky.delay()'; said 'flaky.*succeeded' 100; sleep 0.3
excerpt celery_retry healthy "Celery: a task was retried twice and succeeded" tail 40
stop_sides
LIMIT=12 run celery -A tasks worker -c 1 -l info
excerpt celery_broker_refused "NETWORK_ERROR net:refused LOG_ERROR" "Celery: the broker does not listen and stays away" tail 40
run rq worker --url redis://cache:6379
excerpt rq_refused "NETWORK_ERROR net:refused LOG_ERROR" "RQ: redis does not listen" tail 45
cat >spider.py <<'E2'
import scrapy
class S(scrapy.Spider):
    name = "prices"; start_urls = ["http://127.0.0.4:9000/", "http://127.0.0.4:9000/none"]
    custom_settings = {"RETRY_TIMES": 1, "TELNETCONSOLE_ENABLED": False}
    def parse(self, r): yield {"n": len(r.text)}
E2
side python -m http.server -b 127.0.0.4 9000; up 9000 127.0.0.4; run scrapy runspider spider.py
excerpt scrapy_ok healthy "Scrapy: a page, and one that does not exist" tail 60
stop_sides; run scrapy runspider spider.py
excerpt scrapy_refused "NETWORK_ERROR net:refused LOG_ERROR" "Scrapy: the site does not listen" tail 45
py <<'E2'
import logging; logging.basicConfig(level=logging.INFO)
from apscheduler.schedulers.blocking import BlockingScheduler
s = BlockingScheduler(); n = [0]
def tick():
    n[0] += 1
    if n[0] == 3: raise LookupError("price list is empty")
    if n[0] > 4: s.shutdown(wait=False)
s.add_job(tick, "interval", seconds=0.5); s.start()
E2
excerpt apscheduler_exception "LOG_ERROR" "APScheduler: a job raises"
py <<'E2'
import logging; logging.basicConfig(level=logging.INFO)
from kafka import KafkaProducer
KafkaProducer(bootstrap_servers="queue:9092", bootstrap_timeout_ms=2000)
E2
excerpt kafka_refused "NETWORK_ERROR net:refused LOG_ERROR" "kafka-python: the broker does not listen" tail 45
py <<'E2'
import pymongo
print("Connecting to database"); pymongo.MongoClient("mongodb://db.internal:27017", serverSelectionTimeoutMS=1500).admin.command("ping")
E2
excerpt pymongo_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "pymongo: a name that does not exist" tail 30
py <<'E2'
import pymysql
pymysql.connect(host="db", user="app", password="example", database="shop", connect_timeout=2)
E2
excerpt pymysql_refused "NETWORK_ERROR net:refused LOG_ERROR" "PyMySQL: the server does not listen" tail 30
py <<'E2'
import paho.mqtt.client as m
print("publishing"); c = m.Client(m.CallbackAPIVersion.VERSION2); c.connect("queue", 1883)
E2
excerpt paho_refused "NETWORK_ERROR net:refused LOG_ERROR" "paho: the broker does not listen" tail 30
run alembic upgrade head
excerpt alembic_no_config "config_error LOG_ERROR" "Alembic: no configuration"
run pip install --no-index shop-plugins
excerpt pip_no_package "missing_dependency LOG_ERROR" "pip: a package that is not there"
start python -m radicale --storage-filesystem-folder=/srv/cal --server-hosts=127.0.0.1:5232; up 5232; for p in / /none /.web/; do quiet curl -s http://127.0.0.1:5232$p; done; stop
excerpt radicale_traffic healthy "Radicale: requests, stop"
side silent_server 8888; sleep 0.4; LIMIT=60 run jupyter server --allow-root --no-browser --ServerApp.port=8888 --ServerApp.port_retries=0 --ServerApp.ip=127.0.0.1
excerpt jupyter_port "port_in_use LOG_ERROR" "Jupyter: the port is taken" tail 15
stop_sides
start jupyter server --allow-root --no-browser --ServerApp.port=8888 --ServerApp.ip=127.0.0.1 --IdentityProvider.token=example; up 8888; for p in /api /none '/api/contents?token=example'; do quiet curl -s "http://127.0.0.1:8888$p"; done; stop
excerpt jupyter_traffic healthy "Jupyter: start, requests, a page that does not exist, stop" tail 50
