"""The image that the cases run: the test image with programs that serve, ask and tell the time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.docker.image import IMAGE, build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.docker.engine import PrivateEngine

BENCH = "bench:1"

PROGRAMS: Mapping[str, str] = {
    "tcp-server": """\
#!/bin/sh
trap 'kill $server 2>/dev/null; exit 0' TERM INT
nc -ll -p "$1" -e cat & server=$!
wait $server
""",
    "http-server": """\
#!/bin/sh
export HTTP_STATE="${2:-/tmp/st}"
trap 'kill $server 2>/dev/null; exit 0' TERM INT
nc -ll -p "$1" -e /bin/http-answer & server=$!
wait $server
""",
    "http-answer": """\
#!/bin/sh
read -r request
while read -r line; do [ "${#line}" -le 1 ] && break; done
state=ok
[ -e "$HTTP_STATE" ] && read -r state <"$HTTP_STATE"
case $state in
  ok | '') printf 'HTTP/1.0 200 OK\\r\\nContent-Type: text/plain\\r\\nConnection: close\\r\\n\\r\\nok\\n' ;;
  hang) sleep 10 ;;
  *) printf 'HTTP/1.0 %s\\r\\nContent-Type: text/plain\\r\\nConnection: close\\r\\n\\r\\n%s\\n' "$state" "$state" ;;
esac
""",
    "probe": """\
#!/bin/sh
ask() {
  if [ "$1" = http ]; then
    printf 'GET %s HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n' "${4:-/}" "$2" | timeout 3 nc -w 2 "$2" "$3" 2>&1
  else
    echo ping | timeout 3 nc -w 2 "$2" "$3" 2>&1
  fi
}
said=$(ask "$@")
status=$?
case $said in
  *'bad address'*) echo dns ;;
  *refused*) echo refused ;;
  *nreachable* | *'o route'*) echo noroute ;;
  *'timed out'*) echo timeout ;;
  *eset*) echo reset ;;
  HTTP/1.?' 2'*) echo ok ;;
  HTTP/1.?' '[0-9]*) said=${said#HTTP/1.? }; echo "http-${said%% *}" ;;
  ping*) echo ok ;;
  *) if [ $status -ne 0 ]; then echo timeout; elif [ "$1" = http ]; then echo reset; else echo ok; fi ;;
esac
""",
    "stamp": """\
#!/bin/sh
exec date -u +"${1:-%Y-%m-%d %H:%M:%S}"
""",
}


def build_bench_image(engine: PrivateEngine) -> None:
    """Build it on the test image, which an engine of the tests has."""
    build_on(engine, IMAGE, BENCH, {}, {f"/bin/{name}": text for name, text in PROGRAMS.items()})


def build_on(
    engine: PrivateEngine, base: str, tag: str, environment: Mapping[str, Any], files: Mapping[str, str]
) -> None:
    """Build an image on another one, with more files, which can be run, and variables."""
    lines = [f"FROM {base}", *(f"COPY file{number} {path}" for number, path in enumerate(files))]
    lines += [f"ENV {name}={json.dumps(str(value))}" for name, value in environment.items()]
    lines.append(f"LABEL bench={json.dumps(tag)}")
    context = {f"file{number}": (text.encode(), 0o755) for number, text in enumerate(files.values())}
    build(engine.host, tag, {"Dockerfile": ("\n".join(lines).encode(), 0o644), **context})
