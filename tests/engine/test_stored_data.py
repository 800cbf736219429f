"""Promise: what the engine did not tell of its disk is unknown, whatever it answers, and waiting for it has an end."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.engine.parse import parse_stored_data
from bcon_exporter.errors import BconError, DeadlineExceededError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.secrets.masking import Sealer
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.factories import NOON, full_id
from tests.table_rows import table

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from bcon_exporter.model.disk import StoredData

SHELL = "\x1b[31mred\u202e"
USAGE: dict[str, Any] = {
    "LayersSize": 900,
    "Images": [
        {"Id": "sha256:" + "a" * 64, "RepoTags": ["app:1", "app:2"], "Size": 700, "SharedSize": 200, "Containers": 1},
        {"Id": "sha256:" + "b" * 64, "RepoTags": ["<none>:<none>"], "Size": 400, "SharedSize": -1, "Containers": 0},
        {"Id": "sha256:" + "c" * 64, "RepoTags": None, "Size": 4, "SharedSize": 0, "Containers": -1},
    ],
    "Containers": [
        {
            "Id": full_id("api"), "Names": ["/web/api", "/api"], "State": "running", "SizeRw": 30,
            "Labels": {"com.docker.compose.project": "shop"},
            "Mounts": [{"Type": "volume", "Name": "data"}, {"Type": "bind", "Source": "/srv"}],
        },
        {"Id": full_id("old"), "Names": ["/old"], "State": "exited", "Mounts": [{"Type": "volume", "Name": "data"}]},
    ],
    "Volumes": [
        {"Name": "data", "UsageData": {"Size": 50, "RefCount": 2}},
        {"Name": "nfs", "UsageData": {"Size": -1, "RefCount": -1}},
        {"Name": "bare"},
    ],
    "BuildCache": [
        {"ID": "x", "Size": 10, "InUse": True, "Shared": False},
        {"ID": "y", "Size": 7, "InUse": False, "Shared": False},
        {"ID": "z", "Size": 500, "InUse": False, "Shared": True},
    ],
}  # fmt: skip


def parse(raw: Any) -> StoredData:
    data = parse_stored_data(raw, NOON, 0.1)
    assert data is not None
    return data


def test_everything_that_the_engine_told() -> None:
    data = parse(USAGE)
    api, old = data.layers

    assert (api.name, api.project, api.size_bytes, api.is_running, api.volumes) == ("api", "shop", 30, True, ("data",))
    assert (old.name, old.size_bytes, old.is_running) == ("old", 0, False)
    assert [(one.name, one.size_bytes, one.shared_bytes, one.containers) for one in data.images] == [
        ("app:1", 700, 200, 1),
        ("b" * 12, 400, None, 0),
        ("c" * 12, 4, 0, None),
    ]
    assert [(one.name, one.size_bytes, one.containers) for one in data.volumes] == [
        ("data", 50, 2),
        ("nfs", None, 0),
        ("bare", None, 0),
    ]
    assert (data.images_bytes, data.cache_bytes, data.cache_free_bytes) == (900, 17, 7)


def test_what_is_not_told_is_not_zero() -> None:
    data = parse({"Images": None, "Containers": None, "Volumes": None})

    assert (data.images_bytes, data.cache_bytes, data.cache_free_bytes) == (None, None, None)
    assert parse({"Images": [], "BuildCache": None}).cache_bytes == 0
    assert parse({"Containers": [{"Id": "a", "SizeRw": -1}]}).layers[0].size_bytes is None


@pytest.mark.parametrize("raw", [None, [], "x", {}, {"message": "no"}, 7])
def test_what_is_no_usage_is_none(raw: Any) -> None:
    assert parse_stored_data(raw, NOON, 0.1) is None


JUNK: tuple[Any, ...] = (None, True, -1, 2**80, 1.5, "x", [], {}, [None], [[]], [{"Id": 7, "Name": 9}], {"Id": {}})


@table("junk", JUNK, ids=repr)
@table("key", [*USAGE, "Labels", "Mounts", "Names", "SizeRw", "Size", "UsageData", "RepoTags", "State"])
def test_whatever_stands_there_nothing_is_raised(key: str, junk: Any) -> None:
    raw = {kind: list(map(dict, value)) if isinstance(value, list) else value for kind, value in USAGE.items()}
    if key in raw:
        raw[key] = junk
    else:
        raw = {k: [{**one, key: junk} for one in v] if isinstance(v, list) else v for k, v in raw.items()}

    data = parse(raw)
    sizes = [*(one.size_bytes for one in data.layers), *(one.size_bytes for one in data.images)]
    sizes += [one.size_bytes for one in data.volumes]
    assert all(size is None or 0 <= size <= 2**60 for size in sizes)


def test_names_are_cleaned() -> None:
    raw = {
        "Containers": [
            {
                "Id": "a" * 64,
                "Names": [f"/{SHELL}"],
                "Mounts": [{"Type": "volume", "Name": f"password=hunter2-very-secret {SHELL}"}],
            }
        ],
        "Images": [{"Id": SHELL, "RepoTags": [f"{SHELL}:password=hunter2-very-secret"]}],
        "Volumes": [{"Name": f"{SHELL}\n{'v' * 900}"}],
    }
    shown = parse(raw).model_dump_json()

    for text in ("\\u001b", "\u202e", "v" * 400, "hunter2-very-secret"):
        assert text not in shown


def serve_usage(tmp_path: Path, respond: Callable[[FakeEngine], bytes]) -> FakeEngine:
    """An engine with no container, whose disk usage is told by `respond`."""
    engine: FakeEngine

    def reply(target: str) -> bytes:
        match target.partition("?")[0].split("/")[-1]:
            case "_ping":
                return answer(b"OK", extra="Api-Version: 1.41\r\n")
            case "version":
                return answer(b'{"ApiVersion":"1.41","MinAPIVersion":"1.12","Version":"20.10.24"}')
            case "info":
                return answer(b'{"ID":"one","Name":"h","DockerRootDir":"/var/lib/no-docker"}')
            case "json":
                return answer(b"[]")
            case "df":
                return respond(engine)
            case _:
                return answer(b"{}", "404 Not Found")

    def talk(connection: socket.socket) -> None:
        while targets := read_requests(connection):
            for target in targets:
                connection.sendall(reply(target))

    engine = FakeEngine(tmp_path / "docker.sock", talk)
    return engine


def host_at(url: str, book: HostSecrets | None = None, **options: Any) -> DockerHost:
    return DockerHost(Endpoint(url), HostOptions(**options), Sealer.random(), book)


def hang(engine: FakeEngine) -> bytes:
    engine.stopped.wait(30)
    return b""


@pytest.mark.slow
def test_an_engine_that_hangs_is_waited_for_no_longer_and_holds_up_no_scan(tmp_path: Path) -> None:
    with serve_usage(tmp_path, hang) as engine:
        host = host_at(engine.url, df_timeout_seconds=1.5)
        problems: list[BconError] = []

        def ask() -> None:
            with pytest.raises(DeadlineExceededError) as caught:
                host.read_stored_data(NOON)
            problems.append(caught.value)

        thread = threading.Thread(target=ask)
        thread.start()
        snapshot = host.observe(NOON, 5.0, Wants()).snapshot
        still_waits = thread.is_alive()
        thread.join(10)
        host.close()

    assert [error.message for error in problems] == ["not answered within 2 s"]
    assert snapshot.unread.get("engine") is None
    assert still_waits, "the scan waited for it"
    assert host.endpoints_up() == dict.fromkeys(("list", "inspect", "stats", "logs", "events"), True)
    assert host.requests().endpoints["df"].failures == 1


@pytest.mark.slow
def test_it_may_take_longer_than_any_other_answer(tmp_path: Path) -> None:
    def respond(engine: FakeEngine) -> bytes:
        engine.stopped.wait(0.8)
        return answer(json.dumps(USAGE).encode())

    with serve_usage(tmp_path, respond) as engine:
        host = host_at(engine.url, read_timeout_seconds=0.4, df_timeout_seconds=9.0)
        data = host.read_stored_data(NOON)
        host.close()

    assert data.took_seconds >= 0.8
    assert data.images_bytes == 900


def test_closing_ends_the_wait(tmp_path: Path) -> None:
    with serve_usage(tmp_path, hang) as engine:
        host = host_at(engine.url)
        ended = threading.Event()

        def ask() -> None:
            with pytest.raises(BconError):
                host.read_stored_data(NOON)
            ended.set()

        thread = threading.Thread(target=ask)
        thread.start()
        assert not ended.wait(0.3)
        host.close()
        assert ended.wait(3)
        thread.join(3)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b'{"message":"a disk usage operation is already running"}', "500 Server Error", "already running"),
        (b'{"message":"forbidden"}', "403 Forbidden", "forbid"),
        (b"<html>", "200 OK", "JSON"),
        (b"[]", "200 OK", "something else"),
    ],
)
def test_a_refusal_and_nonsense_are_said(tmp_path: Path, body: bytes, status: str, said: str) -> None:
    with serve_usage(tmp_path, lambda _: answer(body, status)) as engine:
        host = host_at(engine.url)
        with pytest.raises(BconError, match=said):
            host.read_stored_data(NOON)
        host.close()


def test_no_tag_shows_what_a_container_holds(tmp_path: Path) -> None:
    book = HostSecrets()
    book.learn_container(full_id("api"), "shop", frozenset({"hunter2-very-secret"}))
    tags = ["shop/app:hunter2-very-secret", "hunter2-very-secret/app:1", "plain:1"]
    images = [{"Id": "sha256:" + "a" * 64, "RepoTags": [tag], "Size": 1} for tag in tags]
    with serve_usage(tmp_path, lambda _: answer(json.dumps({"Images": images}).encode())) as engine:
        host = host_at(engine.url, book)
        names = [image.name for image in host.read_stored_data(NOON).images]
        host.close()

    assert names == ["shop/app:***", "hunter2-very-secret/app:1", "plain:1"]
