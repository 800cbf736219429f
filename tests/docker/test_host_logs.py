"""Logs on request: since and until mean what they say, whatever the driver, terminal or bytes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import HostOptions
from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError
from tests.docker.hosts import by_name, open_host, scan
from tests.docker.recording_proxy import RecordingProxy
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bcon_exporter.engine import DockerHost
    from bcon_exporter.model.container_facts import LogLine
    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]


def test_until_and_since_cut_the_log_where_they_say(engine: TestEngine) -> None:
    full = engine.docker("run", "-d", "--name", "steps", engine.image, "sh", "-c",
                         "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; sleep 600")  # fmt: skip
    with open_host(engine.host) as host:
        everything = wait_until(lambda: read_whole(host, full), "the whole log")
        newest = host.read_logs(full, tail=5, since=None, until=None)
        assert [line.text for line in newest.lines] == [f"line {n}" for n in range(2996, 3001)]
        assert newest.truncated
        middle = everything[1000].at
        early = host.read_logs(full, tail=10, since=None, until=middle)
        expected = [line.text for line in everything if line.at is not None and middle and line.at < middle]
        assert [line.text for line in early.lines] == expected[-10:]
        between = host.read_logs(full, tail=5000, since=everything[500].at, until=middle)
        assert between.lines[0].at == everything[500].at
        assert all(line.at is not None and middle is not None and line.at < middle for line in between.lines)
        nothing = host.read_logs(full, tail=10, since=utc_now() + timedelta(hours=1), until=None)
        assert nothing.lines == ()


@pytest.mark.same_machine
def test_only_a_log_that_has_grown_is_asked_for_again(engine: TestEngine, tmp_path: Path) -> None:
    for name, driver in (("quiet", "json-file"), ("spoken", "json-file"), ("other", "local")):
        script = "echo first; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo second; sleep 600"
        engine.docker("run", "-d", "--name", name, "--log-driver", driver, engine.image, "sh", "-c", script)
    with RecordingProxy(tmp_path / "proxy.sock", engine.socket) as proxy, open_host(proxy.host, HostOptions()) as host:
        ids = {name: host.resolve(name) for name in ("quiet", "spoken", "other")}
        wait_until(lambda: _texts(host) == {name: ["first"] for name in ids}, "everybody's first line")

        def asked() -> set[str]:
            before = len(proxy.requests)
            _texts(host)
            return {name for name in ids for one in proxy.requests[before:] if f"/{ids[name]}/logs" in one.target}

        assert asked() == {"other"}  # of that driver's file we know nothing
        engine.docker("exec", "spoken", "touch", "/tmp/go")
        wait_until(lambda: _texts(host)["spoken"] == ["first", "second"], "the second line")
        assert asked() == {"other"}
        assert _texts(host) == {"quiet": ["first"], "spoken": ["first", "second"], "other": ["first"]}


def _texts(host: DockerHost) -> dict[str, list[str]]:
    found = by_name(scan(host))
    return {name: [line.text for line in one.logs.lines] for name, one in found.items() if one.logs is not None}


def read_whole(host: DockerHost, container_id: str) -> Sequence[LogLine] | None:
    lines = host.read_logs(container_id, tail=5000, since=None, until=None).lines
    return lines if len(lines) == 3000 else None


def test_unknown_and_unreadable_logs_are_errors_that_say_why(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "mute", "--log-driver", "none", engine.image, "sleep", "600")
    with open_host(engine.host) as host:
        with pytest.raises(ContainerNotFoundError):
            host.read_logs("absent", tail=10, since=None, until=None)
        full = host.resolve("mute")
        with pytest.raises(InvalidInputError, match=f"logs of {full[:12]} cannot be read back: its log driver keeps"):
            host.read_logs(full, tail=10, since=None, until=None)
        scan(host)
        with pytest.raises(InvalidInputError, match="logs of mute cannot be read back: the log driver none keeps"):
            host.read_logs(full, tail=10, since=None, until=None)
        assert host.is_up()


def test_the_driver_local_is_read_like_the_usual_one(engine: TestEngine) -> None:
    engine.docker("run", "--name", "near", "--log-driver", "local", engine.image, "echo", "kept")
    with open_host(engine.host) as host:
        found = host.read_logs(host.resolve("near"), tail=10, since=None, until=None)
        assert [line.text for line in found.lines] == ["kept"]


def test_last_words_without_a_line_feed_are_a_line_of_each_run(engine: TestEngine) -> None:
    flags = ("-d", "--name", "loop", "--restart", "on-failure:2")
    engine.docker("run", *flags, engine.image, "sh", "-c", "printf 'fatal: no config'; exit 1")
    engine.docker("run", "--name", "long", "--log-driver", "local", engine.image, "sh", "-c",
                  "head -c 40000 /dev/zero | tr '\\0' x; echo; echo next")  # fmt: skip
    wait_until(
        lambda: engine.docker("inspect", "-f", "{{.RestartCount}} {{.State.Status}}", "loop") == "2 exited", "it"
    )
    with open_host(engine.host, HostOptions()) as host:
        found = by_name(scan(host))
        loop, long = found["loop"].logs, found["long"].logs
        assert loop is not None
        assert long is not None
        assert [line.text for line in loop.lines] == ["fatal: no config"] * 3
        assert [line.text[-4:] for line in long.lines] == ["xxxx", "next"]


def test_strange_bytes_and_terminals_come_out_clean(engine: TestEngine) -> None:
    engine.docker(
        "run", "-d", "--name", "odd", engine.image, "printf", r"a\000b\033[31mred\033[0m\r\n\377\376 \342\200\256x\n"
    )
    engine.docker("run", "-t", "--name", "tty", engine.image, "sh", "-c", "echo out; echo err >&2")
    engine.docker("wait", "odd")
    with open_host(engine.host, HostOptions()) as host:
        found = by_name(scan(host))
        odd, tty = found["odd"].logs, found["tty"].logs
        assert odd is not None
        assert tty is not None
        assert all(line.text.isprintable() for line in odd.lines)
        assert [(line.stream, line.text) for line in tty.lines] == [("stdout", "out"), ("stdout", "err")]
