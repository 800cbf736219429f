"""Promise: a person at a terminal gets the containers and the part of the log that were asked for."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.cli import main
from bcon_exporter.cli.follow_logs import Unseen
from bcon_exporter.model.reports import LogEntry
from bcon_exporter.tools.replay import write_snapshot
from tests.factories import NOON, ago, compose, container, exited, line, logs, snapshot

Ask = Callable[..., tuple[int, str, str]]

CRASHED_AT = ago(60)
STORY = logs(
    line("first run: hello", at=ago(300)),
    line("first run: ERROR code=7", at=CRASHED_AT),
    line("second run: Hello", at=ago(50)),
    line("second run: ready", at=ago(40)),
)
RESTARTED = container(name="worker", started_at=ago(55), finished_at=CRASHED_AT, logs=STORY)
HOST = snapshot(
    container(name="shop-api-1", compose=compose("api")),
    exited(3, name="shop-db-1", compose=compose("db")),
    exited(1, name="lonely"),
    container(name="well"),
    RESTARTED,
)


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command on the host above."""
    write_snapshot(tmp_path / "host.json", HOST)

    def run(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--from-snapshot", str(tmp_path / "host.json")], {})
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def diagnosed(ask: Ask, *words: str) -> tuple[int, set[str]]:
    code, out, _ = ask("diagnose", *words, "--format", "json")
    return code, {report["container_name"] for report in json.loads(out)["result"]["reports"]}


def test_several_containers_are_diagnosed_at_once(ask: Ask) -> None:
    assert diagnosed(ask, "well", "lonely") == (1, {"well", "lonely"})
    assert diagnosed(ask, "well", "shop-api-1") == (0, {"well", "shop-api-1"})
    _, out, _ = ask("diagnose", "well", "lonely", "--format", "json")
    result = json.loads(out)["result"]
    assert (result["total_containers"], result["healthy"], result["error"]) == (2, 1, 1)


def test_a_word_that_is_no_container_may_be_a_project(ask: Ask) -> None:
    assert diagnosed(ask, "shop") == (1, {"shop-api-1", "shop-db-1"})
    assert diagnosed(ask, "shop", "well") == (1, {"shop-api-1", "shop-db-1", "well"})
    code, _, err = ask("diagnose", "shpo", "well")
    assert (code, err.startswith("bcon-exporter: no container is named 'shpo'")) == (4, True)


def test_one_container_answers_as_before(ask: Ask) -> None:
    code, out, _ = ask("diagnose", "lonely", "--format", "json")
    assert (code, json.loads(out)["result"]["container_name"]) == (1, "lonely")


def messages(ask: Ask, *words: str) -> list[str]:
    code, out, err = ask("logs", "worker", *words, "--format", "json")
    assert (code, err) == (0, "")
    return [entry["message"] for entry in json.loads(out)["result"]["entries"]]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--grep", "hello"], ["first run: hello", "second run: Hello"]),
        (["--grep", "re:code=[0-9]"], ["first run: ERROR code=7"]),
        (["--grep", "hello", "--tail", "1"], ["second run: Hello"]),
        (["--grep", "h.llo"], []),
        (["--previous"], ["first run: hello", "first run: ERROR code=7"]),
        (["--stream", "stderr"], []),
        (["--previous", "--grep", "error"], ["first run: ERROR code=7"]),
        (["--around-crash"], ["first run: hello", "first run: ERROR code=7", "second run: Hello", "second run: ready"]),
        (["--around-crash", "--tail", "2"], ["first run: ERROR code=7", "second run: Hello"]),
    ],
)
def test_logs_shows_the_part_that_is_wanted(ask: Ask, words: list[str], shown: list[str]) -> None:
    assert messages(ask, *words) == shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["well", "--around-crash"], "well has not ended yet, so there is no crash to show"),
        (["worker", "--previous", "--around-crash"], "--previous and --around-crash exclude each other"),
        (["worker", "--follow", "--watch", "1s"], "--follow and --watch exclude each other"),
        (["worker", "--follow"], "a snapshot gets no new lines"),
        (["worker", "--grep", "re:("], "cannot be used"),
    ],
)
def test_a_part_that_is_not_there_is_told(ask: Ask, words: list[str], said: str) -> None:
    code, _, err = ask("logs", *words)
    assert code == 2
    assert said in err


def test_following_shows_each_line_once() -> None:
    """Each poll begins with the last time that was shown, so its lines come again."""

    def entry(message: str, second: int) -> LogEntry:
        return LogEntry(timestamp=NOON + timedelta(seconds=second), stream="stdout", message=message)

    same, other = entry("again", 1), entry("other", 1)
    unseen = Unseen()
    assert unseen.take([entry("a", 0), same]) == (entry("a", 0), same)
    assert unseen.take([same]) == ()
    assert unseen.take([same, same, other]) == (same, other)
    assert unseen.take([same, same, other, entry("b", 2)]) == (entry("b", 2),)
    assert unseen.take([entry("b", 2)]) == ()
    assert unseen.take([]) == ()
    assert len(unseen._at_last) == 1, "of a log that is followed for days the last time alone is kept"
