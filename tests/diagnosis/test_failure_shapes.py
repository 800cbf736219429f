"""Promise: a line without a level is a failure by its shape, not by a word in it."""

import pytest

from bcon_exporter.diagnosis.failure_phrases import is_fatal, is_lost_answer, looks_like_failure
from tests.table_rows import table

FAILURES = [
    "Error: order 42 is broken",
    "fatal: not possible to fast-forward",
    "could not store order 42",
    "12: cannot open the ledger",
    "shop: failed to store order 42",
    "Storing order 42 failed",
    "Illegal division by zero at main.pl line 1.",
    "/srv/app.rb:3:in `<main>': undefined method `foo' (NoMethodError)",
    "** (RuntimeError) boom",
    "An error occurred while storing order 42",
    "order 42: internal error",
    "web-1 exited with code 139",
    "the worker has died",
    "TypeError: x is not a function",
    "jinja2.exceptions.TemplateNotFound: index.html",
    "telegram.error.Unauthorized: Unauthorized",
    "  [✗] the list cannot be read",
    "❌ boot",
    "2026-03-01 10:00:00 Running [App\\Jobs\\Close] ............ 123ms FAIL",
]
HARMLESS = [
    "Error tracking is disabled",
    "mysqld_safe Logging to '/var/log/mysql/error.log'.",
    "GET /error/404.html",
    "backup.sh --on-error=continue",
    "COPY public.x (error) FROM stdin;",
    "ok 1 - throws an error on bad input",
    "✓ fails when the order is empty",
    "pg_restore: creating TABLE public.errors",
    "this may fail on old kernels",
    "3 errors were fixed",
    "error handler installed",
    "all good, nothing failed",
    "add_column(:orders, :error_message, :string)",
    "web-1 exited with code 0",
    "errors.example.org. 0 IN A 127.0.0.9",
    "loaded app.handlers.on_fail in 3 ms",
]


@table("text", FAILURES)
def test_a_failure_is_seen(text: str) -> None:
    assert looks_like_failure(text)


@table("text", HARMLESS)
def test_a_word_alone_is_no_failure(text: str) -> None:
    assert not looks_like_failure(text)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ('"GET / HTTP/1.1" 502 1', True),
        ('"GET / HTTP/1.1" 503 1', False),
        ('"GET / HTTP/1.1" 404 1', False),
        ("[GIN] 2026/03/01 - 10:00:00 | 500 | 1ms |", True),
        ("[GIN] 2026/03/01 - 10:00:00 | 200 | 1ms |", False),
    ],
)
def test_an_answer_is_lost_when_the_service_itself_failed(text: str, lost: bool) -> None:
    assert is_lost_answer(text) is lost


def test_a_warning_that_tells_of_the_end_is_fatal() -> None:
    assert is_fatal("1:M 01 Mar 2026 10:00:00.000 # Redis 7.0.5 crashed by signal: 11")
    assert not is_fatal("1:M 01 Mar 2026 10:00:00.000 # Server initialized")


@pytest.mark.parametrize(
    "text", ["fbguard: bin/fbserver terminated abnormally (-1)", "launchd: Service exited with abnormal code: 1"]
)
def test_an_abnormal_end_is_a_failure(text: str) -> None:
    assert looks_like_failure(text)
