"""Promise: a line of our own log is one line, acts on no terminal and holds no secret; neither does a traceback."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from bcon_exporter.daemon_log import JsonLines, TextLines
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.host_secrets import HostSecrets
from tests.secrets.secrets_corpus import ALNUM, B64, make

HOSTILE = "web\n2026-01-01T00:00:00.000Z ERROR scheduler: forged\r\x1b]0;title\x07\x1b[2J\u202e\u2028\x85\x0b\ud800"


def record(message: str, *arguments: object, error: BaseException | None = None) -> logging.LogRecord:
    found = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("bcon_exporter.x", logging.ERROR, __file__, 1, message, arguments, found)


def caught(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except type(error):
        raised = sys.exc_info()[1]
        assert raised is not None
        return raised


@pytest.mark.parametrize("formatter", [TextLines(), JsonLines()])
def test_a_hostile_name_stays_within_its_line(formatter: logging.Formatter) -> None:
    line = formatter.format(record("container %s left", HOSTILE))
    assert len(line.splitlines()) == 1
    assert "\x1b" not in line
    assert line.isprintable()
    line.encode()


@pytest.mark.promise("S9")
@pytest.mark.parametrize("formatter", [TextLines(), JsonLines()])
def test_a_secret_is_masked_wherever_a_message_is_cut(formatter: logging.Formatter) -> None:
    secret = make(ALNUM, 40)
    for length in range(4040, 4100):
        line = formatter.format(record("%s password=%s", "x" * length, secret))
        assert secret[:4] not in line.partition("password=")[2]


@pytest.mark.promise("S9")
@pytest.mark.parametrize("kind", [TextLines, JsonLines])
def test_what_an_environment_holds_is_masked_in_messages_and_tracebacks(kind: type[TextLines | JsonLines]) -> None:
    secret, book = make(ALNUM, 12), HostSecrets()
    book.learn_container("web", "shop", frozenset((secret,)))
    error = caught(InvalidInputError(f"no such user {secret}"))
    line = kind(book.hide).format(record("started as %s", f"{secret[:5]}\x1b[0m{secret[5:]}", error=error))
    assert secret[4:] not in line
    assert line.count("***") == 2


@pytest.mark.promise("S11")
def test_words_that_quote_a_value_do_not_stand_in_a_traceback() -> None:
    secret = "canary" + make(ALNUM, 8)
    errors = [ValueError(f"invalid literal for int() with base 10: '{secret}'"), KeyError(secret), RuntimeError(secret)]
    for error in errors:
        for cause in (None, ValueError(secret)):
            for formatter in (TextLines(), JsonLines()):
                text = formatter.format(record("failed", error=caught(error, cause)))
                assert secret not in text
                assert type(error).__name__ in text
                assert "caught" in text, "where it happened is told"


@pytest.mark.promise("S11")
def test_our_own_words_and_those_of_the_system_are_told_masked() -> None:
    secret = make(ALNUM, 12)
    own = TextLines().format(record("failed", error=caught(InvalidInputError(f"bad password={secret}"))))
    assert "bad password=***" in own
    assert "No such file" in TextLines().format(record("x", error=caught(FileNotFoundError(2, "No such file", "/a"))))


def test_causes_are_told_and_an_endless_chain_ends() -> None:
    first, second = TypeError("first"), TypeError("second")
    first.__context__, second.__context__ = second, first
    lines = TextLines().format(record("failed", error=first)).splitlines()
    assert any("second" in line for line in lines)
    assert len(lines) < 40


def test_a_key_in_a_message_is_masked_whole() -> None:
    body = "\n".join(make(B64, 64) for _ in range(3))
    text = f"-----BEGIN {'PRIVATE'} KEY-----\n{body}\n-----END {'PRIVATE'} KEY-----"
    shown = json.loads(JsonLines().format(record("%s", text)))["message"]
    assert not any(part in shown for part in body.split("\n"))
