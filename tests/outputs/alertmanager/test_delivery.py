"""A round arrives as a whole; one bad alert, a slow, redirecting or broken Alertmanager costs nothing but itself."""

from __future__ import annotations

import logging
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.outputs.alertmanager.delivery import BATCH_SIZE, Alertmanager, UnreachableError, deliver
from bcon_exporter.outputs.alertmanager.pusher import Pusher
from tests.factories import NOON
from tests.outputs.alertmanager.receiver import receiving
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from http.server import BaseHTTPRequestHandler

    from bcon_exporter.outputs.alertmanager.payload import Payload


def alerts(*names: str) -> tuple[Payload, ...]:
    return tuple({"labels": {"alertname": name}, "annotations": {}} for name in names)


def numbered(count: int) -> tuple[Payload, ...]:
    return alerts(*(f"a{number}" for number in range(count)))


@pytest.mark.parametrize(("count", "requests"), [(BATCH_SIZE, 1), (BATCH_SIZE + 1, 2)])
def test_a_round_goes_out_in_batches_to_the_api_below_the_address(count: int, requests: int) -> None:
    with receiving() as receiver:
        delivery = deliver(Alertmanager(f"{receiver.url}/prefix").post, numbered(count))

    assert (delivery.accepted, delivery.failed, delivery.error) == (count, False, None)
    assert receiver.paths == ["/prefix/api/v2/alerts"] * requests
    assert receiver.accepted == [f"a{number}" for number in range(count)]


@pytest.mark.parametrize("bad", [0, 5, 63, 64, 129])
def test_one_bad_alert_loses_none_of_the_others(bad: int) -> None:
    name = f"a{bad}"
    with receiving(lambda batch: 400 if any(one["labels"]["alertname"] == name for one in batch) else 200) as receiver:
        delivery = deliver(Alertmanager(receiver.url).post, numbered(130))

    assert sorted(receiver.accepted) == sorted({f"a{number}" for number in range(130)} - {name})
    assert (delivery.accepted, delivery.refused, delivery.failed) == (129, (name,), False)
    assert delivery.error == "HTTP status 400: because"


@pytest.mark.parametrize("status", [302, 401, 404, 429, 500, 503])
def test_any_other_answer_ends_the_round_at_once(status: int) -> None:
    with receiving(lambda _: status) as receiver:
        delivery = deliver(Alertmanager(receiver.url).post, numbered(130))

    assert len(receiver.batches) == 1
    assert delivery.failed
    assert delivery.error == f"HTTP status {status}: because"


def test_a_refused_connection_says_so() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

    assert "refused" in str(deliver(Alertmanager(url).post, alerts("a")).error)


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with receiving() as receiver:
        assert deliver(Alertmanager(receiver.url).post, alerts("a")).accepted == 1


def trickle(handler: BaseHTTPRequestHandler, _status: int) -> None:
    """One byte every 50 ms, for a minute."""
    ticking = threading.Event()
    for _ in range(1200):
        try:
            handler.wfile.write(b"H")
        except OSError:
            return
        ticking.wait(0.05)


def keep_silent(_handler: BaseHTTPRequestHandler, _status: int) -> None:
    """Answer nothing for a minute."""
    threading.Event().wait(60)


@pytest.mark.parametrize("answer", [trickle, keep_silent])
def test_an_answer_that_does_not_end_is_cut_off_in_time(answer: Any) -> None:
    with receiving(answer=answer) as receiver:
        began = time.monotonic()
        with pytest.raises(UnreachableError):
            Alertmanager(receiver.url, timeout_seconds=0.5).post(alerts("a"))

    assert time.monotonic() - began < 50, "before it would have ended by itself"


def trickle_a_body(handler: BaseHTTPRequestHandler, status: int) -> None:
    """A whole head, then one byte every 50 ms for a minute."""
    handler.send_response(status)
    handler.end_headers()
    trickle(handler, status)


@pytest.mark.promise("F23")
@pytest.mark.parametrize(("status", "accepted", "error"), [(200, 1, None), (500, 0, "HTTP status 500: HHHH")])
def test_the_status_counts_where_the_text_behind_it_does_not_end(status: int, accepted: int, error: str | None) -> None:
    with receiving(lambda _: status, trickle_a_body) as receiver:
        began = time.monotonic()
        delivery = deliver(Alertmanager(receiver.url, timeout_seconds=0.5).post, alerts("a"))

    assert time.monotonic() - began < 5
    assert delivery.accepted == accepted
    assert (delivery.error or "").startswith(error or "")
    assert (delivery.error is None) is (error is None)


class Gated:
    """An Alertmanager that takes a round only when it may."""

    url = "http://gated"

    def __init__(self) -> None:
        self.may = threading.Event()
        self.took: list[str] = []
        self.began = 0
        self.error: Exception | None = None

    def post(self, batch: Sequence[Payload]) -> None:
        self.began += 1
        self.may.wait(20)
        if self.error is not None:
            raise self.error
        self.took += [one["labels"]["alertname"] for one in batch]


def pushing(*gates: Gated) -> list[Pusher]:
    """Running pushers."""
    pushers = [Pusher(gate, lambda: NOON) for gate in gates]  # type: ignore[arg-type]  # acts as one
    for pusher in pushers:
        pusher.start()
    return pushers


def test_a_slow_one_gets_the_newest_round_next_and_keeps_nobody_waiting() -> None:
    slow, quick = Gated(), Gated()
    quick.may.set()
    pushers = pushing(slow, quick)
    for name in ("first", "second", "third"):
        for pusher in pushers:
            pusher.offer(alerts(name))
        wait_until(lambda name=name: name in quick.took and slow.began, "the quick one")  # type: ignore[misc]
    assert slow.took == [], "nobody has waited for it"
    slow.may.set()
    wait_until(lambda: "third" in slow.took, "the newest round")

    assert slow.took == ["first", "third"]
    assert quick.took == ["first", "second", "third"]
    for pusher in pushers:
        pusher.stop()


def test_what_is_wrong_is_said_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gated()
    gate.may.set()
    (pusher,) = pushing(gate)
    with caplog.at_level(logging.INFO):
        for round_number, error in enumerate((UnreachableError("away"), UnreachableError("away"), None, None)):
            gate.error = error
            pusher.offer(alerts("a"))
            wait_until(lambda n=round_number: pusher.rounds > n and gate.began > n, "the round")  # type: ignore[misc]
            wait_until(lambda e=error: (pusher.state.error is None) is (e is None), "its outcome")  # type: ignore[misc]
    pusher.stop()

    assert [record.getMessage() for record in caplog.records] == [
        "http://gated takes no alerts: away",
        "http://gated takes alerts again",
    ]
    assert (pusher.rounds, pusher.failures) == (4, 2)
    assert pusher.state.last_success_at == NOON


def test_a_defect_in_one_round_does_not_end_the_pushing(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gated()
    gate.may.set()
    gate.error = ZeroDivisionError()
    (pusher,) = pushing(gate)
    pusher.offer(alerts("lost"))
    wait_until(lambda: pusher.failures == 1, "the defect")
    gate.error = None
    pusher.offer(alerts("sent"))
    wait_until(lambda: gate.took == ["sent"], "the next round")
    pusher.stop()

    assert "because of a defect" in caplog.text
