"""One regression test for each class of vulnerability that tools like this one were found to have.

What each did there must not work here. Where another test of ours shows it already, the table names that test.
"""

from __future__ import annotations

import ast
import base64
import http.client
import json
import re
import socket
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from bcon_exporter.engine.allowlist import RequestRefusedError, check_request
from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.access_control import is_open
from bcon_exporter.outputs.http.web_access import WebAccess
from bcon_exporter.tools import TOOLS
from tests.architecture.sources import ROOT, parse
from tests.docker.daemon import Daemon
from tests.engine.fake_engine import FakeEngine, answer
from tests.engine.test_docker_host import GOOD, engine_with, entry
from tests.factories import NOON
from tests.journal.keepers import batch, container, event, open_keeper, scan
from tests.outputs.http.asking import BEYOND, INSECURE, LOOPBACK, ask, site_of, users
from tests.outputs.http.test_access_control import every_route
from tests.outputs.http.test_listeners import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.outputs.http import ListenerPolicy, Users

pytestmark = pytest.mark.promise("S12")

SHOWN_ELSEWHERE = {
    "Glances CVE-2026-32596, an API open to anybody by default":
        "tests/security/test_access_control_tricks.py::test_beyond_loopback_without_users_no_spelling_of_a_path_shows_a_report",
    "Glances CVE-2026-32632, a name rebound to this machine":
        "tests/security/test_access_control_tricks.py::test_a_rebound_name_is_not_served_on_loopback",
    "Glances GHSA-mcm7-fmh3-v6v3, escapes of a process's name in a terminal":
        "tests/security/test_untrusted_text.py::test_hostile_text_acts_at_no_face",
    "Arcane CVE-2026-47179, files of the host by Compose's include":
        "tests/security/test_compose_roots.py::test_a_file_outside_of_the_roots_is_not_read_however_it_is_named",
    "cAdvisor #3401 and #3060, routes that the password file did not cover":
        "tests/outputs/http/test_access_control.py::test_with_users_every_route_of_every_listener_needs_one",
    "Dozzle CVE-2026-44985, a web socket for any origin":
        "tests/security/test_access_control_tricks.py::test_no_method_and_no_header_opens_the_gate",
    "Dozzle CVE-2024-47182, passwords hashed without salt":
        "tests/outputs/http/test_web_config.py::test_what_is_wrong_is_named_and_nothing_is_quoted",
}  # fmt: skip
EVIL = "https://evil.example"
SECRET, PASSWORD = "tok-canary-4711", "canary horse battery"


@pytest.mark.parametrize("test", SHOWN_ELSEWHERE.values(), ids=SHOWN_ELSEWHERE.keys())
def test_what_is_shown_elsewhere_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert name in {node.name for node in parse(ROOT / file).body if isinstance(node, ast.FunctionDef)}


# --- what a browser may be made to do --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [LOOPBACK, INSECURE])
def test_no_route_lets_another_origin_in(policy: ListenerPolicy) -> None:
    """Glances CVE-2026-32610, CVE-2026-33533, CVE-2026-34839: `Access-Control-Allow-Origin: *` on an open API."""
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    for method, path in [*every_route(), *(("OPTIONS", path) for _, path in every_route())]:
        given = ask(site_of(), method, path, policy=policy, headers={"origin": EVIL, **preflight})

        assert given.status_code in (403, 405), (method, path)
        assert [name for name in given.headers if name.startswith("access-control-")] == [], (method, path)


# --- secrets of the exporter itself ----------------------------------------------------------------------------------


@pytest.mark.integration
def test_no_route_and_no_tool_shows_a_secret_of_the_settings(tmp_path: Path) -> None:
    """Glances CVE-2026-30928, CVE-2026-32609, CVE-2026-32633: configuration, arguments, downstream passwords by API."""
    import bcrypt

    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    (tmp_path / "web.yml").write_text(json.dumps({"basic_auth_users": {"me": hashed}}))
    (tmp_path / "am.yml").write_text(json.dumps({"authorization": {"credentials": SECRET}}))
    flags = (
        *("--alertmanager.url=http://127.0.0.1:9", "--alertmanager.job=x", "--alertmanager.instance=y"),
        *(f"--alertmanager.config.file={tmp_path / 'am.yml'}", f"--web.config.file={tmp_path / 'web.yml'}"),
    )
    header = {"authorization": f"Basic {base64.b64encode(f'me:{PASSWORD}'.encode()).decode()}"}
    own = {"CANARY_TOKEN": SECRET}
    with (
        FakeEngine(tmp_path / "s", engine_with({})) as engine,
        Daemon(tmp_path, engine.url, *flags, environ=own) as daemon,
    ):
        answers = [raw_ask(daemon.port, method, path, header) for method, path in every_route()]
        answers += [raw_ask(daemon.port, "POST", f"/api/v1/tools/{tool.name}", header, {}) for tool in TOOLS]
        answers += [
            raw_ask(daemon.port, "GET", path, header) for path in ("/api/v1/config", "/api/v1/args", "/debug/vars")
        ]
        daemon.end()

    assert sum(status == 200 for status, _ in answers) >= 10
    shown = "\n".join(text for _, text in answers) + daemon.log
    assert [secret for secret in (SECRET, PASSWORD, hashed, hashed[7:]) if secret in shown] == []


def test_no_password_is_taken_from_an_address() -> None:
    """Tugtainer CVE-2026-23846: the password in the query, hence in every log and history on the way."""
    known = users(me=PASSWORD)
    for query in (f"?username=me&password={quote(PASSWORD)}", f"?user=me&pass={quote(PASSWORD)}", f"?token={PASSWORD}"):
        assert ask(site_of(), "GET", f"/metrics{query}", known=known).status_code == 401
    basic = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    assert (
        ask(site_of(), "GET", "/metrics", known=known, headers={"authorization": f"Basic {basic}"}).status_code == 200
    )
    userinfo = f"http://me:{quote(PASSWORD)}@localhost/metrics"
    assert over_a_socket([f"GET {userinfo} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], known) == [401]


# --- who is let in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "{}", "basic_auth_users:\n", "basic_auth_users: {}\n", "http_server_config: {}\n"]
)
def test_a_file_of_users_without_users_opens_nothing(tmp_path: Path, text: str) -> None:
    """Tugtainer CVE-2026-55494: a secret that was not set meant that everybody was let in."""
    file = tmp_path / "web.yml"
    file.write_text(text)
    try:
        known = WebAccess(file).users
    except SettingsError:  # refused at the start: nothing is served at all
        return

    for method, path in every_route():
        if not is_open(path):
            assert ask(site_of(), method, path, policy=BEYOND, known=known, host="example.org").status_code == 403


@pytest.mark.parametrize("pair", ["me: ''", "me: null", "'': $2b$04$", "me: '*'", "me: password"])
def test_a_user_without_a_hash_is_refused_at_the_start(tmp_path: Path, pair: str) -> None:
    """The same class: an empty hash that every password, or none, would fit."""
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{{pair}}}\n")
    with pytest.raises(SettingsError):
        WebAccess(tmp_path / "web.yml")


def test_no_header_makes_a_wrong_pair_pass_for_a_remembered_one() -> None:
    """exporter-toolkit CVE-2022-46146: who knew a hash could write a header that the cache took for a good pair."""
    known = users(ab="c:d", a="other")
    hashed = known._hashes["ab"].decode()
    good = ("ab", "c:d")
    forged = [
        ("a", "bc:d"),
        ("ab", "c"),
        ("ab", f":{hashed}"),
        ("ab", hashed),
        (f"ab:{hashed}", "c:d"),
        ("ab:c", "d"),
        ("", "abc:d"),
    ]

    statuses = [status_of(known, pair) for pair in (good, *forged, good, *forged)]

    # "ab:c" with "d" is the good pair: a header has one form for both
    assert statuses == [200, *(200 if ":".join(pair) == "ab:c:d" else 401 for pair in forged)] * 2


def status_of(known: Users, pair: tuple[str, str]) -> int:
    encoded = base64.b64encode(":".join(pair).encode()).decode()
    return ask(site_of(), "GET", "/metrics", known=known, headers={"authorization": f"Basic {encoded}"}).status_code


# --- what input may become -------------------------------------------------------------------------------------------

TRAVERSALS = (
    *("../images/x", "..%2fimages%2fx", "%2e%2e/images/x", "x/../../volumes/y", "x/export", "x%2fexport", "x?a=1#b"),
    *("..", "/", "x\r\nGET /info", "x%00", "http://127.0.0.1/", "x\\..\\y"),
)


@pytest.mark.integration
def test_no_id_leads_to_another_path_of_the_engine(tmp_path: Path) -> None:
    """Beszel CVE-2026-27734: a container's id went into a path of the Docker API as it came."""
    asked: list[str] = []
    talk = engine_with({})

    def listen(connection: socket.socket) -> None:
        talk(_Recorded(connection, asked))  # type: ignore[arg-type]  # all that the conversation uses

    with FakeEngine(tmp_path / "s", listen) as engine, Daemon(tmp_path, engine.url) as daemon:
        statuses = {}
        for text in TRAVERSALS:
            for tool in ("get_container_info", "get_container_logs", "get_container_stats", "diagnose_container"):
                statuses[tool, text] = daemon.ask(f"/api/v1/tools/{tool}", "POST", {"container_id": text}).status
            statuses["route", text] = daemon.ask(f"/api/v1/containers/{quote(text, safe='')}/logs").status
            statuses["raw", text] = daemon.ask(f"/api/v1/containers/{quote(text, safe='/%')}").status

    assert set(statuses.values()) <= {400, 404, 405}, statuses
    assert len(asked) > 3
    assert [target for target in asked if refuses(target)] == []
    assert not re.search(r"images/x|volumes/y|export", "".join(asked))


class _Recorded:
    """A connection that notes the targets it is asked for."""

    def __init__(self, connection: socket.socket, asked: list[str]) -> None:
        self._connection, self._asked = connection, asked

    def recv(self, size: int) -> bytes:
        data = self._connection.recv(size)
        self._asked += re.findall(r"^[A-Z]+ (\S+) HTTP", data.decode("latin-1"), re.MULTILINE)
        return data

    def sendall(self, data: bytes) -> None:
        self._connection.sendall(data)


def refuses(target: str) -> bool:
    try:
        check_request("GET", target)
    except RequestRefusedError:
        return True
    return False


@pytest.mark.integration
def test_no_setting_and_no_label_is_run_as_a_command(tmp_path: Path) -> None:
    """Glances CVE-2026-33641 (backticks in its configuration), CVE-2026-32608 (a process's name in an action)."""
    mark = tmp_path / "ran"
    commands = [f"`touch {mark}`", f"$(touch {mark})", f"; touch {mark} ;", f"| touch {mark}", f"&& touch {mark}"]
    labels = {f"l{number}": text for number, text in enumerate(commands)}
    labels |= {"com.docker.compose.project": commands[0], "com.docker.compose.project.config_files": commands[1]}
    listed = {**entry(GOOD), "Labels": labels}
    (tmp_path / "bcon.yml").write_text(
        json.dumps({"alertmanager": {"job": commands[0], "instance": commands[1], "url": ["http://127.0.0.1:9"]},
                    "filter": {"exclude_names": commands}, "metrics": {"container_labels": ["l0", "l1"]}})
    )  # fmt: skip
    rules = {"/containers/json": answer(json.dumps([listed]).encode())}
    with (
        FakeEngine(tmp_path / "s", engine_with(rules)) as engine,
        Daemon(tmp_path, engine.url, f"--config.file={tmp_path / 'bcon.yml'}", "--scan.drift-interval=1s") as daemon,
    ):
        daemon.wait_until_ready()
        daemon.wait_for_sample('bcon_scan_success{scan="drift"}', 1)
        shown = daemon.ask("/metrics").text
        daemon.end()

    assert "touch" in shown, "the labels came through as text"
    assert not mark.exists()


def test_no_name_becomes_a_statement_of_the_database(tmp_path: Path) -> None:
    """Glances CVE-2026-30930, CVE-2026-32611, CVE-2026-35588: names of processes in SQL."""
    name = "x'); DROP TABLE events; -- OR 1=1"
    path = tmp_path / "state.db"
    history = open_keeper(path)
    history.add_events(batch(event(NOON, "die", name, exit_code=1), event(NOON, "start", name)), NOON)
    tables = tables_of(path)
    scan(history, container(name=name, image=name))
    history.close()

    assert tables_of(path) == tables
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    assert any(name in str(value) for row in kept for value in row), "it was kept as a value"


def tables_of(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


@pytest.fixture
def trap() -> Iterator[socket.socket]:
    """A listener that nobody has a reason to connect to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


@pytest.mark.integration
def test_no_request_makes_the_daemon_open_a_connection(tmp_path: Path, trap: socket.socket) -> None:
    """Dozzle CVE-2026-45298, Tugtainer CVE-2026-62308, Glances CVE-2026-35587: an address was fetched for a client."""
    port = trap.getsockname()[1]
    addresses = [f"{scheme}://127.0.0.1:{port}/x" for scheme in ("http", "https", "tcp", "git", "oci", "ftp")]
    addresses += [
        f"//127.0.0.1:{port}/x",
        f"127.0.0.1:{port}",
        f"git@127.0.0.1:{port}/x.git",
        f"\\\\127.0.0.1@{port}\\x",
    ]
    with FakeEngine(tmp_path / "s", engine_with({})) as engine, Daemon(tmp_path, engine.url) as daemon:
        for address in addresses:
            for tool in TOOLS:
                fields = {
                    name: address
                    for name, schema in tool.input_schema().get("properties", {}).items()
                    if "string" in str(schema)
                }
                raw_ask(daemon.port, "POST", f"/api/v1/tools/{tool.name}", {}, fields)
            heads = {
                "referer": address,
                "x-forwarded-host": address,
                "x-original-url": address,
                "x-callback-url": address,
            }
            for path in ("/metrics", "/", "/api/v1/health", f"/api/v1/containers/{quote(address, safe='')}"):
                raw_ask(daemon.port, "GET", path, heads)
        still_there = daemon.ask("/-/healthy").status

    assert still_there == 200
    with pytest.raises(BlockingIOError):
        trap.accept()


def test_no_request_makes_another_series() -> None:
    """client_golang CVE-2022-21698: each new method of a request was another series, for ever."""
    odd = [f"{method} /odd-{number} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ua-{number}\r\nConnection: close\r\n\r\n"
           for number, method in enumerate(("BREW", "PROPFIND", "X" * 20, "GET", "TRACE") * 8)]  # fmt: skip
    site = site_of()
    before = series_of(ask(site, "GET", "/metrics").text)
    statuses = over_a_socket(odd, None)

    assert {status // 100 for status in statuses} == {4}
    assert series_of(ask(site, "GET", "/metrics").text) == before


def series_of(text: str) -> set[str]:
    return {line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")}


# --- asking ----------------------------------------------------------------------------------------------------------


def over_a_socket(requests: list[str], known: Users | None) -> list[int]:
    """The statuses of raw requests, each on a connection of its own."""
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), site_of().behind(lambda: LOOPBACK, lambda: known))

    def send(port: int) -> list[int]:
        statuses = []
        for request in requests:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
                link.sendall(request.encode())
                statuses.append(int(link.recv(65536).split()[1]))
        return statuses

    return list(served(listener, send))


def raw_ask(port: int, method: str, path: str, headers: dict[str, str], body: Any = None) -> tuple[int, str]:
    """Status and text of one answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        if body is not None:
            headers = {**headers, "content-type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        got = connection.getresponse()
        return got.status, got.read().decode("utf-8", "replace") + str(got.getheaders())
    finally:
        connection.close()
