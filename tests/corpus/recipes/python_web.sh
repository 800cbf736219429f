# Python web frameworks and servers
# software: the first word of each name
# pip: flask django gunicorn uvicorn fastapi waitress hypercorn tornado sqlalchemy psycopg[binary] pydantic-settings
cat >/srv/app/shop.py <<'END'
import logging, os
from flask import Flask, request, abort
app = Flask(__name__)
@app.get("/")
def index(): return "ok"
@app.get("/total")
def total(): return str(100 / int(request.args["n"]))
@app.post("/login")
def login():
    app.logger.warning("Failed login for user %r: wrong password", request.form["user"]); abort(401)
@app.get("/slow")
def slow():
    import time; time.sleep(30); return ""
@app.get("/eat")
def eat():
    import os, signal; os.kill(os.getpid(), signal.SIGKILL)
END
get() { quiet curl -s -m "${2:-4}" "http://127.0.0.1:8000$1"; }
start flask --app shop run -p 8000; up 8000; for p in / /total?n=5 /nope /favicon.ico /; do get $p; done
excerpt flask_traffic healthy "the development server with traffic and 404s"
start flask --app shop run -p 8000; up 8000; get /; get /total?n=0; get /
excerpt flask_exception "LOG_ERROR" "a request that divides by zero" tail 60
start flask --app shop run -p 8000; up 8000; for u in alice bob; do quiet curl -s -d "user=$u" http://127.0.0.1:8000/login; done
excerpt flask_wrong_password auth_failure "visitors give wrong passwords"
side silent_server 8000; sleep 0.5; run flask --app shop run -p 8000
excerpt flask_port "port_in_use LOG_ERROR" "the port is taken"
LIMIT=5 run gunicorn -b 127.0.0.1:8000 shop:app
excerpt gunicorn_port "port_in_use LOG_ERROR" "the port is taken"
LIMIT=5 run uvicorn --port 8000 --interface wsgi shop:app
excerpt uvicorn_port "port_in_use LOG_ERROR" "the port is taken"
stop_sides
start gunicorn -w 2 -b 127.0.0.1:8000 --access-logfile - shop:app; up 8000; for p in / /nope / /total?n=2; do get $p; done
kill -HUP "${started[0]}"; sleep 1.5; get /; stop
excerpt gunicorn_traffic healthy "traffic, reload, graceful stop"
start gunicorn -w 1 -t 2 -b 127.0.0.1:8000 shop:app; up 8000; get /slow 5; sleep 1
excerpt gunicorn_worker_timeout "LOG_ERROR" "a worker hangs and is ended by its master" tail 40
start gunicorn -w 1 -b 127.0.0.1:8000 shop:app; up 8000; get /eat; sleep 1.5
excerpt gunicorn_worker_killed "LOG_ERROR" "a worker was killed by SIGKILL (by us, memory was not short)"
LIMIT=6 run gunicorn -b 127.0.0.1:8000 nowhere:app
excerpt gunicorn_module "missing_dependency LOG_ERROR" "the application module is not there"
cat >/srv/app/api.py <<'END'
import os, sqlalchemy
from fastapi import FastAPI, HTTPException
app = FastAPI()
engine = sqlalchemy.create_engine("postgresql+psycopg://app:example@db:5432/shop", connect_args={"connect_timeout": 2})
@app.get("/")
def index(): return {"ok": True}
@app.get("/orders")
def orders():
    with engine.connect() as c: return list(c.execute(sqlalchemy.text("select 1")))
@app.get("/gone")
def gone(): raise HTTPException(410)
END
start uvicorn --port 8000 api:app; up 8000; for p in / /gone /nope / ; do get $p; done; quiet curl -s -X POST http://127.0.0.1:8000/; stop INT
excerpt uvicorn_traffic healthy "traffic with client errors, graceful stop"
start uvicorn --port 8000 api:app; up 8000; get /orders; sleep 0.5
excerpt uvicorn_sqlalchemy_refused "NETWORK_ERROR net:refused LOG_ERROR" "the database does not listen" tail 60
cat >/srv/app/conf.py <<'END'
from pydantic_settings import BaseSettings
class Settings(BaseSettings):
    database_url: str
    workers: int
settings = Settings()
END
WORKERS=many run python conf.py
excerpt pydantic_settings_missing "config_error LOG_ERROR" "a setting left out and one that is no number"
start waitress-serve --listen=127.0.0.1:8000 shop:app; up 8000; get /; get /nope; stop
excerpt waitress_start healthy "start and traffic"
start hypercorn -b 127.0.0.1:8000 --access-logfile - api:app; up 8000; get /; get /nope; stop
excerpt hypercorn_traffic healthy "start, traffic and stop"
cat >/srv/app/tor.py <<'END'
import asyncio, tornado.web, tornado.log, logging, tornado.options
tornado.options.parse_command_line([])
class H(tornado.web.RequestHandler):
    def get(self): self.write("ok")
class B(tornado.web.RequestHandler):
    def get(self): raise RuntimeError("template cache is not filled")
async def main():
    tornado.web.Application([("/", H), ("/b", B)]).listen(8000); logging.info("listening"); await asyncio.Event().wait()
asyncio.run(main())
END
start python tor.py; up 8000; get /; get /nope; get /favicon.ico; get /
excerpt tornado_traffic healthy "traffic with 404s"
start python tor.py; up 8000; get /; get /b; get /
excerpt tornado_exception "LOG_ERROR" "a request handler raises"
mkdir -p /srv/dj && cd /srv/dj && quiet django-admin startproject shop . && export DJANGO_SETTINGS_MODULE=shop.settings
run python manage.py migrate
start python manage.py runserver --noreload 8000; up 8000; get /; get /nope; get /static/x.css; get /admin/login/; stop INT
excerpt django_traffic healthy "migrations, start, pages that do not exist" tail 60
sed -i 's/^SECRET_KEY.*/SECRET_KEY = "x"/; s/^ALLOWED_HOSTS.*/ALLOWED_HOSTS = ["shop.example"]/; s/^DEBUG.*/DEBUG = False/' shop/settings.py
sed -i 's#BASE_DIR / .db.sqlite3.#"/srv/nowhere/db.sqlite3"#' shop/settings.py; run python manage.py migrate
excerpt django_database_missing "LOG_ERROR" "the folder of the SQLite file is not there: unable to open database file" tail 30
cd /srv/app
