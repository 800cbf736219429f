"""Who asks too often, or tries too many passwords, is told when to come again; others are not kept out by it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import httpx
import pytest

from bcon_exporter.outputs.http import RateLimits, Users
from bcon_exporter.outputs.http.access_control import PROBE_PATHS
from bcon_exporter.outputs.http.rate_limits import (
    ALL_REQUESTS_AT_ONCE,
    REQUESTS_AT_ONCE,
    REQUESTS_PER_SECOND,
    RUNNING_MAX,
    RUNNING_PER_CLIENT,
    WRONG_PASSWORDS_AT_ONCE,
    PasswordChecks,
    RequestLimits,
    TooManyRequestsError,
)
from bcon_exporter.outputs.http.users import Credentials, GoodPairs
from bcon_exporter.token_buckets import TokenBuckets
from tests.outputs.http.asking import BEYOND, LOOPBACK, error_of, site_of, users

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bcon_exporter.outputs.http import ListenerPolicy


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def ask_all(
    paths: Sequence[str],
    *,
    known: Users | None = None,
    policy: ListenerPolicy = LOOPBACK,
    limits: RateLimits | None = None,
    **options: object,
) -> list[httpx.Response]:
    """Ask one listener for each path, one after the other."""
    app = site_of().behind(lambda: policy, lambda: known, limits)

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app, client=("192.0.2.9", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", **options) as client:  # type: ignore[arg-type]
            return [await client.get(path) for path in paths]

    return asyncio.run(ask())


def test_a_bucket_is_filled_again_as_time_goes_by() -> None:
    buckets = TokenBuckets(2, 0.5)

    assert [buckets.take("a", now) for now in (0.0, 0.0, 0.0, 1.0, 2.0)] == [0.0, 0.0, 2.0, 1.0, 0.0]
    assert buckets.take("b", 2.0) == 0.0
    assert [buckets.take("a", 1000.0) for _ in range(3)] == [0.0, 0.0, 2.0]


def test_buckets_are_kept_for_so_many_clients() -> None:
    buckets = TokenBuckets(1, 0.1)
    for number in range(10_000):
        buckets.take(str(number), 0.0)

    assert len(buckets._buckets) < 5000


def test_a_client_that_asks_too_often_gets_429_and_when_to_come_again() -> None:
    limits = RateLimits()
    limits.requests = RequestLimits(Clock())
    answers = ask_all(["/api/v1/tools"] * (REQUESTS_AT_ONCE + 20), limits=limits)

    refused = [answer for answer in answers if answer.status_code == 429]
    assert [answer.status_code for answer in answers] == [200] * REQUESTS_AT_ONCE + [429] * 20
    assert refused[0].headers.get_list("retry-after") == ["1"]
    assert error_of(refused[0])["code"] == "rate_limited"


def test_scrapes_and_probes_are_never_too_many() -> None:
    answers = ask_all(["/metrics", "/-/healthy", "/-/ready"] * 300)

    assert {answer.status_code for answer in answers} <= {200, 503}


def test_one_client_that_asks_too_often_does_not_keep_others_out_nor_many_a_user() -> None:
    limits = RequestLimits(Clock())
    for _ in range(REQUESTS_AT_ONCE):
        limits.count("one", is_user=False)
    with pytest.raises(TooManyRequestsError):
        limits.count("one", is_user=False)
    for number in range(ALL_REQUESTS_AT_ONCE - REQUESTS_AT_ONCE):
        limits.count(f"other {number}", is_user=False)
    with pytest.raises(TooManyRequestsError):
        limits.count("another", is_user=False)

    limits.count("user me", is_user=True)


def test_after_a_second_as_many_may_ask_as_are_allowed_a_second() -> None:
    clock = Clock()
    limits = RequestLimits(clock)
    for _ in range(REQUESTS_AT_ONCE):
        limits.count("one", is_user=False)
    clock.now += 1
    for _ in range(int(REQUESTS_PER_SECOND)):
        limits.count("one", is_user=False)

    with pytest.raises(TooManyRequestsError):
        limits.count("one", is_user=False)


def test_so_many_requests_are_answered_at_once_of_one_client_and_of_all() -> None:
    async def fill() -> tuple[int, int]:
        limits = RequestLimits(Clock())
        held = []

        async def hold(client: str) -> int:
            taken = 0
            while True:
                place = limits.running(client)
                try:
                    await place.__aenter__()
                except TooManyRequestsError:
                    return taken
                held.append(place)
                taken += 1

        counts = await hold("one"), await hold("two") + await hold("three")
        for place in held:
            await place.__aexit__(None, None, None)
        assert await hold("one") == RUNNING_PER_CLIENT
        return counts

    assert asyncio.run(fill()) == (RUNNING_PER_CLIENT, RUNNING_MAX - RUNNING_PER_CLIENT)


@pytest.mark.parametrize("policy", [LOOPBACK, BEYOND])
def test_wrong_passwords_are_checked_a_few_times_and_then_refused_without_a_check(policy: ListenerPolicy) -> None:
    known = users(me="right")
    limits = RateLimits()
    limits.passwords = PasswordChecks(Clock())
    wrong = ask_all(["/metrics"] * 30, known=known, policy=policy, limits=limits, auth=("me", "wrong"))
    right = ask_all(["/metrics"], known=known, policy=policy, limits=limits, auth=("me", "right"))

    assert [answer.status_code for answer in wrong[:WRONG_PASSWORDS_AT_ONCE]] == [401] * WRONG_PASSWORDS_AT_ONCE
    assert [answer.status_code for answer in wrong[WRONG_PASSWORDS_AT_ONCE:]] == [429] * 20
    assert [answer.status_code for answer in right] == [429]
    assert int(right[0].headers["retry-after"]) >= 1


def test_right_passwords_use_up_nothing_and_who_is_known_is_not_kept_out() -> None:
    known = users(me="right", **{f"user{number}": "right" for number in range(20)})
    limits = RateLimits()
    for number in range(20):
        (answer,) = ask_all(["/metrics"], known=known, limits=limits, auth=(f"user{number}", "right"))
        assert answer.status_code == 200
    ask_all(["/metrics"] * 30, known=known, limits=limits, auth=("me", "wrong"))

    assert ask_all(["/metrics"], known=known, limits=limits, auth=("user1", "right"))[0].status_code == 200


def test_probes_check_no_password() -> None:
    known = CountingUsers()
    answers = ask_all(sorted(PROBE_PATHS) * 30, known=known, auth=("me", "wrong"))

    assert {answer.status_code for answer in answers} <= {200, 503}
    assert known.checks == 0


class CountingUsers(Users):
    """One user, whose checks are counted, and last until `go`."""

    def __init__(self) -> None:
        super().__init__({"me": "$2b$04$" + "." * 53})
        self.checks = 0
        self.go = threading.Event()

    def check(self, credentials: Credentials) -> bool:
        """Wait, and find it wrong."""
        self.checks += 1
        self.go.wait(10)
        return super().check(credentials)


def test_few_checks_wait_for_each_other_and_fewer_of_one_client() -> None:
    known = CountingUsers()
    pair = Credentials("me", b"wrong")

    async def attack() -> tuple[int, int]:
        checks = PasswordChecks(Clock())
        one = [asyncio.create_task(checks.check(known, pair, "one")) for _ in range(8)]
        many = [asyncio.create_task(checks.check(known, pair, f"client {number}")) for number in range(200)]
        refused = 0
        while refused < 4 + 188:
            await asyncio.sleep(0)
            refused = sum(task.done() for task in (*one, *many))
        of_one = sum(task.done() for task in one)
        known.go.set()
        results = await asyncio.gather(*one, *many, return_exceptions=True)
        assert [result for result in results if not isinstance(result, TooManyRequestsError)] == [False] * 16
        return of_one, refused

    assert asyncio.run(attack()) == (4, 192)


def test_a_good_pair_stays_known_over_a_reload_while_its_users_hash_is_the_same() -> None:
    first, other = users(me="right", old="right"), users(me="right")
    pairs = GoodPairs()
    me, old = Credentials("me", b"right"), Credentials("old", b"right")
    before = Users({name: hashed.decode() for name, hashed in first._hashes.items()}, pairs)
    assert before.check(me)
    assert before.check(old)

    same = Users({"me": first._hashes["me"].decode()}, pairs)
    changed = Users({"me": other._hashes["me"].decode()}, pairs)

    assert (same.remembers(me), changed.remembers(me)) == (True, False)
    assert (same.remembers(old), same.remembers(Credentials("me", b"wrong"))) == (False, False)
