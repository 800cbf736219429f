"""Promise: identical requests share one run, a few run at once, more are refused, and nobody waits for the dead."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bcon_exporter.errors import DeadlineExceededError, ErrorCode, RateLimitedError
from bcon_exporter.tools import SingleFlight, call_tool
from tests.factories import container, snapshot
from tests.tools.hosts import ScriptedHost, context_of

WAIT = 10.0


def test_identical_requests_share_one_run() -> None:
    single_flight, runs, release, started = SingleFlight(), [], threading.Event(), threading.Event()

    def work() -> str:
        runs.append(1)
        started.set()
        assert release.wait(WAIT)
        return "answer"

    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(single_flight.run, "key", work)
        assert started.wait(WAIT)
        others = [pool.submit(single_flight.run, "key", work) for _ in range(19)]
        while not all(other.running() for other in others):
            threading.Event().wait(0.001)
        threading.Event().wait(0.1)  # lets the last of them come as far as waiting
        release.set()
        results = [future.result(WAIT) for future in (first, *others)]
    assert len(runs) == 1
    assert results[0] == ("answer", False)
    assert set(results[1:]) == {("answer", True)}


def test_one_more_than_the_limit_is_refused() -> None:
    single_flight, release = SingleFlight(max_running=2, slot_wait_seconds=0.01), threading.Event()
    running = threading.Barrier(3)

    def work() -> None:
        running.wait(WAIT)
        assert release.wait(WAIT)

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(single_flight.run, number, work) for number in range(2)]
        running.wait(WAIT)
        with pytest.raises(RateLimitedError) as caught:
            single_flight.run("third", lambda: None)
        release.set()
        assert [future.result(WAIT) for future in futures] == [(None, False)] * 2
    assert caught.value.details["max_running"] == 2
    assert single_flight.run("third", lambda: 3) == (3, False)


def test_followers_of_a_failing_run_fail_alike() -> None:
    single_flight, release, started = SingleFlight(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        assert release.wait(WAIT)
        raise ZeroDivisionError

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(single_flight.run, "key", work)]
        assert started.wait(WAIT)
        futures.append(pool.submit(single_flight.run, "key", work))
        threading.Event().wait(0.05)
        release.set()
        for future in futures:
            with pytest.raises(ZeroDivisionError):
                future.result(WAIT)
    assert single_flight.run("key", lambda: 1) == (1, False)


def test_a_follower_does_not_wait_for_ever() -> None:
    single_flight, release, started = SingleFlight(share_wait_seconds=0.01), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        assert release.wait(WAIT)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(single_flight.run, "key", work)
        assert started.wait(WAIT)
        with pytest.raises(DeadlineExceededError):
            single_flight.run("key", work)
        release.set()
        future.result(WAIT)


def test_a_storm_of_identical_calls_reads_the_engine_once() -> None:
    release, started = threading.Event(), threading.Event()

    def hold() -> None:
        started.set()
        assert release.wait(WAIT)

    host = ScriptedHost(snapshot(container()), hold)
    context = context_of(host=host)
    with ThreadPoolExecutor(50) as pool:
        futures = [pool.submit(call_tool, context, "diagnose_all", {}) for _ in range(50)]
        assert started.wait(WAIT)
        while not all(future.running() for future in futures):
            threading.Event().wait(0.001)
        threading.Event().wait(0.2)
        release.set()
        envelopes = [future.result(WAIT) for future in futures]
    assert len(host.wants) <= 2
    assert {envelope.code for envelope in envelopes} == {None}
    assert sum(envelope.shared for envelope in envelopes) >= 48


@pytest.mark.promise("S4")
def test_too_many_different_calls_are_rate_limited() -> None:
    release = threading.Event()
    names = [f"c{number}" for number in range(3)]
    facts = snapshot(*(container(name=name) for name in names))
    host = ScriptedHost(facts, lambda: None)
    running = threading.Semaphore(0)

    def hold() -> None:
        running.release()
        assert release.wait(WAIT)

    host.before_snapshot = hold
    context = context_of(facts, host=host, single_flight=SingleFlight(max_running=2, slot_wait_seconds=0.01))
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(call_tool, context, "get_container_info", {"container_id": name}) for name in names[:2]]
        assert all(running.acquire(timeout=WAIT) for _ in futures)
        refused = call_tool(context, "get_container_info", {"container_id": names[2]})
        release.set()
        assert [future.result(WAIT).code for future in futures] == [None, None]
    assert refused.code is ErrorCode.RATE_LIMITED
