"""What strangers cost who only open connections, against a daemon without an engine; one line a figure.

python -m bench.connections [SOURCE]    SOURCE: another checkout to measure, by default this one
"""

from __future__ import annotations

import contextlib
import http.client
import re
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import bcrypt

from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parents[1]
SERVING = re.compile(r"serving on https?://127\.0\.0\.1:(\d+)")
HEAD = b"GET %s HTTP/1.1\r\nHost: localhost\r\n"
BASIC = "Basic bWU6d3Jvbmc="


@dataclass(frozen=True)
class Target:
    """A daemon that is attacked."""

    pid: int
    port: int
    log_file: Path

    @property
    def memory_kib(self) -> int:
        """What it holds in memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    @property
    def open_files(self) -> int:
        """How many descriptors it has."""
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())

    def connect(self) -> socket.socket:
        """A connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def scrape(self) -> float:
        """The seconds that a good client waits for /metrics."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/metrics")
        connection.getresponse().read()
        connection.close()
        return time.monotonic() - began


@contextlib.contextmanager
def running(source: Path, *flags: str, web_config: str = "", open_files: int = 0) -> Iterator[Target]:
    """Run the daemon of a checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "bcon_exporter", "serve", "--docker.host", f"unix://{folder}/none.sock"]
        command += ["--state.path", "none", "--web.listen-address", "127.0.0.1:0", *flags]
        if web_config:
            make_certificate(folder)
            (folder / "web.yml").write_text(web_config)
            command += ["--web.config.file", str(folder / "web.yml")]
        if open_files:
            command = ["prlimit", f"--nofile={open_files}", *command]
        log_file = folder / "log"

        with log_file.open("wb") as log:
            process = subprocess.Popen(command, cwd=source, stdout=log, stderr=log)
        try:
            found = wait_until(lambda: SERVING.search(log_file.read_text(errors="replace")), "it to serve")
            yield Target(process.pid, int(found[1]), log_file)
        finally:
            process.kill()
            process.wait()


def make_certificate(folder: Path) -> None:
    """A certificate of its own signature."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run(
        [*command, "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        check=True,
        capture_output=True,
    )


TLS = "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"
USERS = f"basic_auth_users: {{me: '{bcrypt.hashpw(b'right', bcrypt.gensalt(10)).decode()}'}}\n"


def closed(links: Sequence[socket.socket]) -> int:
    """How many the other side has closed."""
    poll = select.poll()
    for link in links:
        poll.register(link, select.POLLIN | select.POLLRDHUP)
    return sum(bool(event & (select.POLLRDHUP | select.POLLHUP | select.POLLERR)) for _, event in poll.poll(0))


def tls_idle(source: Path) -> str:
    """Connections that never begin the handshake."""
    with running(source, web_config=TLS) as target, contextlib.ExitStack() as stack:
        before = target.memory_kib
        began = time.monotonic()
        links = [stack.enter_context(target.connect()) for _ in range(200)]
        wait_until(lambda: target.open_files > 150 or closed(links), "them to be accepted")
        time.sleep(1)
        kept = len(links) - closed(links)
        each = (target.memory_kib - before) / kept
        wait_until(lambda: closed(links) == 200, "all to be closed", timeout_seconds=90, every_seconds=0.2)
        seconds = time.monotonic() - began
        return f"{each:.0f} KiB each ({kept} of 200 kept at once), closed after {seconds:.0f} s"


def tls_flood(source: Path) -> str:
    """A thousand of them: what is held at once."""
    with running(source, web_config=TLS) as target, contextlib.ExitStack() as stack:
        before = target.memory_kib
        links = [stack.enter_context(target.connect()) for _ in range(1000)]
        wait_until(lambda: target.open_files > 1000 or closed(links) > 500, "all to be accepted")
        most = target.memory_kib - before
        waits = []
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for _ in range(20):
            asked = time.monotonic()
            connection = http.client.HTTPSConnection("127.0.0.1", target.port, timeout=60, context=context)
            connection.request("GET", "/-/healthy")
            connection.getresponse().read()
            waits.append(time.monotonic() - asked)
        return f"{most / 1024:.0f} MiB for 1000 idle connections; the slowest good client {max(waits) * 1000:.0f} ms"


def passwords(source: Path) -> str:
    """Wrong tries, one after the other."""
    with running(source, web_config=USERS) as target:
        connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
        counts: dict[int, int] = {}
        began = time.monotonic()
        while time.monotonic() - began < 10:
            connection.request("GET", "/metrics", headers={"authorization": BASIC})
            answer = connection.getresponse()
            answer.read()
            counts[answer.status] = counts.get(answer.status, 0) + 1
        return f"answers to wrong passwords in 10 s: {counts}"


def non_ascii(source: Path) -> str:
    """One byte in the header."""
    with running(source, web_config=USERS) as target, target.connect() as link:
        link.sendall(HEAD % b"/metrics" + b"Authorization: Basic \xff\r\n\r\n")
        return link.recv(100).split(b"\r\n")[0].decode()


def bad_bodies(source: Path) -> str:
    """A bad chunk, and more body than is taken, without a password."""
    chunked = HEAD.replace(b"GET", b"POST") % b"/api/v1/tools/diagnose_all" + b"Transfer-Encoding: chunked\r\n\r\n"
    with running(source, web_config=USERS) as target:
        before = target.log_file.stat().st_size
        for body in (b"xyz\r\n\r\n", b"10000000\r\n" + b"a" * 70_000):
            for _ in range(50):
                with target.connect() as link, contextlib.suppress(OSError):
                    link.sendall(chunked + body[:1])
                    link.settimeout(0.2)
                    link.recv(4096)
                    link.sendall(body[1:])
                    link.recv(4096)
        return f"{target.log_file.stat().st_size - before} bytes of log for 100 requests"


def descriptors(source: Path) -> str:
    """More connections than there are descriptors."""
    with running(source, open_files=150) as target, contextlib.ExitStack() as stack:
        before = target.log_file.stat().st_size
        began = time.monotonic()
        while time.monotonic() - began < 10:
            stack.enter_context(target.connect())
            time.sleep(0.02)
        return f"{target.log_file.stat().st_size - before} bytes of log in 10 s"


def pipelined(source: Path) -> str:
    """40 requests for the OpenAPI document at once from 100 clients, which read what they get."""
    with running(source) as target:
        target.scrape()
        before, most, waits = target.memory_kib, 0, []
        stop = threading.Event()
        threads = [threading.Thread(target=pipeline, args=(target, stop)) for _ in range(100)]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        while time.monotonic() - began < 10:
            waits.append(target.scrape())
            most = max(most, target.memory_kib)
        stop.set()
        for thread in threads:
            thread.join()
        return f"{(most - before) / 1024:.0f} MiB more, scrapes: {show(waits)}"


def pipeline(target: Target, stop: threading.Event) -> None:
    """One of those clients, over and over."""
    while not stop.is_set():
        with contextlib.suppress(OSError), target.connect() as link:
            link.settimeout(5)
            link.sendall((HEAD % b"/openapi.json" + b"\r\n") * 40)
            while not stop.is_set() and link.recv(65536):
                pass


def slowloris(source: Path) -> str:
    """300 that send a byte of a header now and then."""
    with running(source) as target, contextlib.ExitStack() as stack:
        waits: list[float] = []
        links: list[socket.socket] = []
        began = time.monotonic()
        while time.monotonic() - began < 12:
            while len(links) < 300:
                links.append(stack.enter_context(target.connect()))
                links[-1].sendall(HEAD % b"/metrics" + b"X: ")
            for link in links:
                with contextlib.suppress(OSError):
                    link.send(b"a")
            waits += [target.scrape() for _ in range(20)]
        wait_until(lambda: closed(links) == len(links), "all to be closed", timeout_seconds=40)
        return f"good clients: {show(waits)}; all closed after {time.monotonic() - began:.0f} s"


def slow_readers(source: Path) -> str:
    """100 that ask for the OpenAPI document and read it hardly."""
    with running(source, web_config=TLS if "tls" in sys.argv else "") as target, contextlib.ExitStack() as stack:
        target.scrape()
        before = target.memory_kib
        began = time.monotonic()
        links = []
        for _ in range(100):
            link = stack.enter_context(socket.socket())
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.connect(("127.0.0.1", target.port))
            link.sendall((HEAD % b"/openapi.json" + b"\r\n") * 40)
            links.append(link)
        most = before
        while closed(links) < len(links) and time.monotonic() - began < 90:
            most = max(most, target.memory_kib)
            for link in links:
                link.settimeout(0.01)
                with contextlib.suppress(OSError):
                    link.recv(512)
        return f"{(most - before) / 1024:.0f} MiB more, all closed after {time.monotonic() - began:.0f} s"


def show(waits: list[float]) -> str:
    """Median and 99th percentile."""
    ordered = sorted(waits)
    return (
        f"{len(ordered)} answered, median {ordered[len(ordered) // 2] * 1000:.0f} ms, "
        f"p99 {ordered[int(len(ordered) * 0.99)] * 1000:.0f} ms"
    )


FIGURES = (tls_idle, tls_flood, passwords, non_ascii, bad_bodies, descriptors, pipelined, slowloris, slow_readers)


def main(source: Path, wanted: Sequence[str]) -> None:
    """Print every figure."""
    for figure in FIGURES:
        if not wanted or figure.__name__ in wanted:
            print(f"{figure.__name__}: {figure(source)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if sys.argv[1:] else HERE, sys.argv[2:])
