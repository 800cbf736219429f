"""Malformed requests get a 4xx or no answer; never a defect, a traceback, a connection that hangs, or memory for good.

5,000 of them here, in `make fuzz` 50,000 (TEST_FUZZ=1): made from the API's own description, as raw bytes, and over
TLS, with and without users.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import socket
import ssl
import time
import warnings
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bcrypt
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from requests.adapters import HTTPAdapter
from schemathesis import GenerationMode

from tests.docker.daemon import Daemon
from tests.docker.malformed import make_request
from tests.outputs.http.test_web_config import certificate
from tests.programs import need
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [
    pytest.mark.docker,
    pytest.mark.alone,
    pytest.mark.promise("F18"),
    pytest.mark.filterwarnings("ignore:Unverified HTTPS request"),
]

LONG = os.environ.get("TEST_FUZZ") == "1"
RAW = 10_000 if LONG else 1500
EXAMPLES = 300 if LONG else 8
"""For each operation and each kind of input."""
SEED = int(os.environ.get("TEST_FUZZ_SEED", "1"))
DEADLINE_SECONDS = 40.0
CLIENTS = 32
"""So many at a time for each daemon: nearly all of them wait."""
WAITING = 10
"""So many clients, the first ones, wait until their connection is ended; the others hang up after a moment."""
RUN = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
GROWTH_MAX_KIB = 10 * 1024
QUICK = ("--scan.diagnose-interval", "2s", "--scan.drift-interval", "2s")
PASSWORD = "correct horse"
HASH = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
USERS = "basic_auth_users:\n" + "".join(f"  me{number}: '{HASH}'\n" for number in range(100))
"""Many, since each may ask so often only."""
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@contextlib.contextmanager
def attacked(engine: TestEngine, folder: Path, web_config: str, figure: Figure) -> Iterator[Daemon]:
    """A daemon that must be as before when the block ends, some seconds later."""
    folder.mkdir()
    config_file = folder.with_suffix(".yml")
    config_file.write_text(web_config)
    with Daemon(folder, engine.host, *QUICK, "--web.config.file", str(config_file)) as daemon:
        warm_up(daemon, tls="tls" in web_config)
        memory, files, threads = memory_kib(daemon), open_files(daemon), thread_count(daemon)
        yield daemon
        wait_until(lambda: open_files(daemon) <= files + 5, "the descriptors to be closed", timeout_seconds=60)
        wait_until(lambda: thread_count(daemon) <= threads + 2, "the threads to end", timeout_seconds=60)
        wait_until(
            lambda: memory_kib(daemon) <= memory + GROWTH_MAX_KIB,
            f"memory to be back within {GROWTH_MAX_KIB} KiB of {memory} (now {memory_kib(daemon)})",
            timeout_seconds=60,
        )
        assert daemon.process.poll() is None
        assert "Traceback" not in daemon.log, daemon.log[-5000:]
        assert " ERROR " not in daemon.log, daemon.log[-5000:]
        figure(f"memory {(memory_kib(daemon) - memory) / 1024:+.1f} MiB, log {len(daemon.log)} bytes")


def warm_up(daemon: Daemon, *, tls: bool) -> None:
    """Ask for everything until it is answered, so that what is made for the first request has been made."""
    session = session_of(1)
    base = f"{'https' if tls else 'http'}://127.0.0.1:{daemon.port}"
    for path in ("/api/v1/diagnosis", "/api/v1/drift", "/api/v1/alerts", "/openapi.json", "/-/ready", "/"):
        wait_until(lambda path=path: session.get(base + path).status_code == 200, path)  # type: ignore[misc]  # a bound default
    if not tls:
        fuzz_schema(daemon, settings(RUN, max_examples=2), from_seed=0)
    with ThreadPoolExecutor(16) as pool:
        rng = random.Random(0)
        list(
            pool.map(
                lambda request: send(daemon.port, request, WAITING, tls=tls), [make_request(rng) for _ in range(200)]
            )
        )
        list(pool.map(lambda _: session.get(base + "/api/v1/containers"), range(100)))


def session_of(client: int) -> requests.Session:
    """A session of a user with the right password, from an address of its own."""

    class FromAddress(HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
            super().init_poolmanager(*arguments, source_address=(address_of(client), 0), **named)

    session = requests.Session()
    session.trust_env = False
    session.auth = (f"me{client % 100}", PASSWORD)
    session.verify = False
    session.mount("http://", FromAddress())
    session.mount("https://", FromAddress())
    return session


def address_of(client: int) -> str:
    return f"127.0.1.{client % 250 + 1}"


def memory_kib(daemon: Daemon) -> int:
    return int(Path(f"/proc/{daemon.process.pid}/status").read_text().partition("VmRSS:")[2].split()[0])


def open_files(daemon: Daemon) -> int:
    return sum(1 for _ in Path(f"/proc/{daemon.process.pid}/fd").iterdir())


def thread_count(daemon: Daemon) -> int:
    return sum(1 for _ in Path(f"/proc/{daemon.process.pid}/task").iterdir())


def send(port: int, request: bytes, client: int, *, tls: bool) -> tuple[bytes, list[int]]:
    """Send bytes and read until the connection ends; the request and the statuses of the answers."""
    began = time.monotonic()
    answer = b""
    with socket.socket() as link:
        link.bind((address_of(client), 0))
        link.settimeout(DEADLINE_SECONDS)
        link.connect(("127.0.0.1", port))
        with contextlib.suppress(ConnectionError, ssl.SSLError), wrapped(link, tls=tls) as stream:
            stream.sendall(request)
            stream.settimeout(DEADLINE_SECONDS if client < WAITING else 0.4)
            with contextlib.suppress(TimeoutError):
                while piece := stream.recv(65536):
                    answer += piece
    assert time.monotonic() - began < DEADLINE_SECONDS, request[:500]
    return request, [int(found) for found in STATUS.findall(answer)]


@contextlib.contextmanager
def wrapped(link: socket.socket, *, tls: bool) -> Iterator[socket.socket]:
    """The connection, behind TLS if wanted."""
    if not tls:
        yield link
        return
    with TLS.wrap_socket(link) as stream:
        yield stream


def test_malformed_requests_harm_nothing(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    """Three daemons at once, since most of the time goes into waiting until they end what clients leave open."""
    need("openssl")
    engine.docker("run", "-d", "--name", "web", engine.image, "sh", "-c", "echo error: refused; sleep 1000")
    kinds = {"open": "", "users": USERS, "tls": certificate(tmp_path) + USERS}
    with contextlib.ExitStack() as stack:
        daemons = {
            kind: stack.enter_context(attacked(engine, tmp_path / kind, config, partial(tell, figure, kind)))
            for kind, config in kinds.items()
        }
        for number, (kind, daemon) in enumerate(daemons.items()):
            raw = raw_bytes(daemon.port, SEED + number, tls=kind == "tls", figure=partial(tell, figure, kind))
            stack.enter_context(raw)
        for kind in ("open", "users"):
            statuses = fuzz_schema(daemons[kind])
            figure(f"{kind}: {statuses.total()} from the description: {dict(sorted(statuses.items()))}")


def tell(figure: Figure, kind: str, words: str) -> None:
    figure(f"{kind}: {words}")


@contextlib.contextmanager
def raw_bytes(port: int, seed: int, *, tls: bool, figure: Figure) -> Iterator[None]:
    """Send raw bytes over connections of their own, many at a time, beside what the block does.

    Of those for TLS each third comes without.
    """
    rng = random.Random(seed)
    work = [(make_request(rng), number) for number in range(RAW)]
    statuses: Counter[int] = Counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = pool.map(lambda one: send(port, one[0], one[1], tls=tls and one[1] % 3 > 0), work)
        yield
        for request, found in answers:
            assert all(status < 500 for status in found), (request[:500], found)
            statuses.update(found or [0])
    assert statuses[400]
    figure(f"{RAW} raw: {dict(sorted(statuses.items()))}")


def fuzz_schema(daemon: Daemon, run: settings = RUN, from_seed: int = SEED) -> Counter[int]:
    """Call every operation of the OpenAPI document with right and wrong input; the number of answers by status."""
    base = f"http://127.0.0.1:{daemon.port}"
    calls: list[Future[int]] = []
    with warnings.catch_warnings(), contextlib.ExitStack() as sessions, ThreadPoolExecutor(8) as pool:
        warnings.simplefilter("ignore")
        schema = schemathesis.openapi.from_dict(session_of(1).get(f"{base}/openapi.json").json())
        found: list[Any] = list(schema.get_all_operations())
        operations = [operation.ok() for operation in found]
        for number, (operation, mode) in enumerate(itertools.product(operations, GenerationMode)):
            ask = caller(pool, calls, base, sessions.enter_context(session_of(number)))
            with contextlib.suppress(Unsatisfiable, pytest.skip.Exception):  # nothing is wrong input for some
                run(seed(from_seed)(given(case=operation.as_strategy(generation_mode=mode))(ask)))()
        return Counter(done.result() for done in calls)


def caller(
    pool: ThreadPoolExecutor, calls: list[Future[int]], base: str, session: requests.Session
) -> Callable[..., None]:
    """What has each case called beside the making of the next ones."""

    def ask(case: Any) -> None:
        calls.append(pool.submit(call, case, base, session))

    return ask


def call(case: Any, base: str, session: requests.Session) -> int:
    """Call the daemon with one case; the status of the answer."""
    answer = case.call(base_url=base, session=session, timeout=DEADLINE_SECONDS)
    assert is_no_defect(answer), (case.as_curl_command(), answer.text[:500])
    return int(answer.status_code)


def is_no_defect(answer: requests.Response) -> bool:
    """Whether it is an answer of ours that blames nobody but the client, or the engine in the envelope."""
    if answer.status_code < 500:
        return True
    code = json.loads(answer.text).get("error", {}).get("code") if answer.text.startswith("{") else None
    told = {
        501: ("not_available", "CRD_NOT_AVAILABLE"),
        503: ("docker_connection_failed", "PROVIDER_NOT_FOUND"),
        504: ("timeout", "PROBE_TIMEOUT"),
    }
    return code in told.get(answer.status_code, ())
