"""Nothing passes the gate but what is allowed: by host name, origin, listener, user and size."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import ErrorCode
from bcon_exporter.outputs.http import ListenerPolicy, RateLimits, Users
from bcon_exporter.outputs.http.access_control import (
    MCP_PATH,
    OPEN_PATHS,
    PROBE_PATHS,
    SCRAPED_PATHS,
    STREAM_PATH,
    is_open,
)
from bcon_exporter.outputs.http.api import create_api
from bcon_exporter.outputs.http.rate_limits import WRONG_PASSWORDS_AT_ONCE
from bcon_exporter.outputs.http.request_body import BODY_MAX_BYTES, BodyRefusedError, buffer_body
from bcon_exporter.outputs.http.request_threads import RequestThreads
from tests.factories import container, snapshot
from tests.outputs.http.asking import (
    BEYOND,
    INSECURE,
    LOOPBACK,
    ask,
    error_of,
    new_site,
    site_of,
    users,
    users_with_tokens,
)
from tests.outputs.scenes import make_context, scan_of
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def every_route() -> list[tuple[str, str]]:
    """Every method and path of the site, as the code routes them; and some that do not exist."""
    api = create_api(make_context, RequestThreads())
    routes = [(method, route.path) for route in api.routes for method in route.methods]  # type: ignore[attr-defined]  # API routes
    filled = [
        (method, path.replace("{container_id}", "api").replace("{project}", "shop").replace("{tool}", "x"))
        for method, path in routes
    ]
    site = site_of()
    plain = [("GET", path) for path in site.plain if path != STREAM_PATH]
    plain += [*(("GET", f"/{first}/api") for first in site.below), ("GET", "/assets/page.css")]
    plain += [(method, path) for path in site.posted for method in ("POST", "GET", "DELETE")]
    strange = [
        ("GET", "/nothing"),
        ("GET", "//metrics"),
        ("GET", "/metrics/"),
        ("GET", "/METRICS"),
        ("DELETE", "/metrics"),
        ("GET", "/api/v1/../v1/health"),
        ("GET", "/-/ready/x"),
    ]
    return sorted({*filled, *plain, *strange})


ROUTES = every_route()


def test_the_walk_knows_all_kinds_of_routes() -> None:
    paths = {path for _, path in ROUTES}

    assert {"/metrics", "/", "/-/ready", "/openapi.json", "/api/v1/tools/diagnose_all", "/api/v1/drift/shop"} <= paths
    assert ("POST", MCP_PATH) in ROUTES
    assert len(ROUTES) > 25


@pytest.mark.promise("S1")
def test_what_anybody_may_ask_holds_no_report() -> None:
    assert frozenset(("/", "/assets/page.css", "/metrics", "/-/healthy", "/-/ready")) == OPEN_PATHS
    assert frozenset(("/-/healthy", "/-/ready")) == PROBE_PATHS
    assert {path for _, path in ROUTES if is_open(path)} - OPEN_PATHS == {"/docs/", "/docs/api"}
    assert not any(map(is_open, ("/docs", "/docsx", "/api/docs/", "//docs/", "/c/docs/")))


@pytest.mark.promise("S1")
@table(("method", "path"), ROUTES)
def test_beyond_loopback_without_users_only_the_open_paths_are_served(method: str, path: str) -> None:
    answer = ask(site_of(), method, path, policy=BEYOND, host="example.org")

    if is_open(path):
        assert answer.status_code != 403
    else:
        assert answer.status_code == 403
        assert error_of(answer)["code"] == "permission_denied"


@pytest.mark.promise("S2")
@table("policy", [LOOPBACK, BEYOND, INSECURE])
@table(("method", "path"), ROUTES)
def test_with_users_every_route_of_every_listener_needs_one(method: str, path: str, policy: ListenerPolicy) -> None:
    known = users(prometheus="correct horse")

    answer = ask(site_of(), method, path, policy=policy, known=known)

    if path in PROBE_PATHS:
        assert answer.status_code in (200, 503)
        assert len(answer.text.split()) <= 2
    else:
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert error_of(answer)["code"] == "permission_denied"


@pytest.mark.promise("S3")
@table(("method", "path"), ROUTES)
def test_every_route_on_loopback_refuses_a_rebound_host_name(method: str, path: str) -> None:
    answer = ask(site_of(), method, path, host="evil.example:19877")

    assert answer.status_code == 421
    error_of(answer)


@pytest.mark.promise("S3")
@table(("method", "path"), ROUTES)
def test_every_answer_carries_the_safe_headers(method: str, path: str) -> None:
    answer = ask(site_of(), method, path)

    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == ("public, max-age=86400" if path == "/assets/page.css" else "no-store")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers


@table("host", ["localhost", "LOCALHOST:1", "127.0.0.1:19877", "[::1]:19877", "[::1]", "localhost."])
def test_local_names_are_known_on_loopback(host: str) -> None:
    assert ask(site_of(), "GET", "/-/healthy", host=host).status_code == 200


@table("host", ["", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]", "10.0.0.1"])
def test_other_names_are_not_known_on_loopback(host: str) -> None:
    assert ask(site_of(), "GET", "/metrics", host=host).status_code == 421


def test_names_of_the_settings_are_known_too() -> None:
    policy = ListenerPolicy(loopback=True, host_names=frozenset({"bcon.example.org"}))

    assert ask(site_of(), "GET", "/metrics", policy=policy, host="bcon.example.org").status_code == 200


@table("known", [None, users(me="x")])
@table(("method", "path"), ROUTES)
def test_every_route_that_serves_reports_beyond_loopback_refuses_a_rebound_host_name(
    method: str, path: str, known: Users | None
) -> None:
    policy = ListenerPolicy(loopback=False, allow_insecure=True, host_names=frozenset({"mine.example"}))

    answer = ask(site_of(), method, path, policy=policy, known=known, host="evil.example")

    if path in SCRAPED_PATHS:
        assert answer.status_code != 421
    else:
        assert answer.status_code == 421
        error_of(answer)


@table("path", sorted(OPEN_PATHS))
def test_what_is_served_without_users_takes_any_name(path: str) -> None:
    assert ask(site_of(), "GET", path, policy=BEYOND, host="any.example").status_code in (200, 503)


@table("host", ["mine.example", "MINE.example:443", "10.0.0.7:19877", "[2001:db8::1]", "localhost"])
def test_reports_beyond_loopback_are_served_under_names_of_the_settings_and_addresses(host: str) -> None:
    policy = ListenerPolicy(loopback=False, allow_insecure=True, host_names=frozenset({"mine.example"}))

    assert ask(site_of(), "GET", "/api/v1/health", policy=policy, host=host).status_code == 200


@pytest.mark.promise("S3")
@table(
    ("headers", "status"),
    [
        ({"origin": "http://localhost:19877"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
        ({"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, 200),
    ],
)
def test_other_web_sites_cannot_ask(headers: dict[str, str], status: int) -> None:
    assert ask(site_of(), "GET", "/metrics", headers=headers).status_code == status


@pytest.mark.promise("S1")
def test_by_explicit_choice_all_is_served_beyond_loopback() -> None:
    assert ask(site_of(), "GET", "/api/v1/health", policy=INSECURE).status_code == 200


@table("policy", [LOOPBACK, BEYOND])
def test_a_known_user_gets_reports_on_every_listener(policy: ListenerPolicy) -> None:
    answer = ask(
        site_of(), "GET", "/api/v1/health", policy=policy, known=users(me="correct horse"), auth=("me", "correct horse")
    )

    assert answer.status_code == 200


@pytest.mark.promise("S1")
@table("method", ["POST", "GET", "DELETE"])
def test_agents_are_served_beyond_loopback_to_users_only_even_where_all_else_is_open(method: str) -> None:
    answer = ask(site_of(), method, MCP_PATH, policy=INSECURE)

    assert answer.status_code == 403
    assert "bearer_tokens" in error_of(answer)["message"]
    assert ask(site_of(), "GET", "/api/v1/health", policy=INSECURE).status_code == 200


@pytest.mark.promise("S2")
@table("path", ["/metrics", "/api/v1/health", "/"])
def test_a_bearer_token_is_as_good_as_a_password_everywhere(path: str) -> None:
    known = users_with_tokens(agent="t" * 40, other="u" * 40)

    for token in ("t" * 40, "u" * 40):
        headers = {"authorization": f"bearer {token}"}
        assert ask(site_of(), "GET", path, policy=BEYOND, known=known, headers=headers).status_code == 200
    for authorization in (
        f"Bearer {'v' * 40}",
        "Bearer",
        "Bearer ",
        f"Token {'t' * 40}",
        header(b"agent:" + b"t" * 40),
    ):
        answer = ask(site_of(), "GET", path, policy=BEYOND, known=known, headers={"authorization": authorization})
        assert answer.status_code == 401, authorization
        assert "Bearer realm=" in answer.headers["www-authenticate"]


@pytest.mark.promise("S4")
def test_who_guesses_tokens_has_to_wait_and_a_good_token_has_not() -> None:
    known, limits = users_with_tokens(agent="good"), RateLimits()

    def status(token: str) -> int:
        headers = {"authorization": f"Bearer {token}"}
        return ask(site_of(), "GET", "/api/v1/health", known=known, headers=headers, limits=limits).status_code

    guesses = [status(f"guess {number}") for number in range(WRONG_PASSWORDS_AT_ONCE + 1)]

    assert guesses == [401] * WRONG_PASSWORDS_AT_ONCE + [429]
    assert status("good") == 200


def test_every_token_is_compared_whichever_it_is() -> None:
    known = users_with_tokens(first="1" * 40, last="2" * 40)

    assert known.name_of_token(b"1" * 40) == "first"
    assert known.name_of_token(b"2" * 40) == "last"
    assert known.name_of_token(b"3" * 40) is None


def header(raw: bytes, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(raw).decode()}"


@pytest.mark.promise("S2")
@table(
    "authorization",
    [
        header(b"me:wrong"),
        header(b"other:correct horse"),
        header(b"me"),
        header(b"\xff\xfe:x"),
        header(b"me:correct horse\x00"),
        header(b"me:" + b"a" * 73),
        header(b"me:correct horse", scheme="Bearer"),
        b"Basic \xff",
        b"Basic \xc3\xa9" * 2,
        "Basic !!!",
        "Basic",
    ],
)
def test_anything_but_the_right_pair_is_401(authorization: str | bytes) -> None:
    known = users(me="correct horse")

    answer = ask(site_of(), "GET", "/metrics", known=known, headers={b"authorization": authorization})

    assert answer.status_code == 401


@pytest.mark.promise("S2")
def test_a_password_longer_than_bcrypt_compares_is_refused_even_if_its_beginning_fits() -> None:
    known = users(me="a" * 72)

    assert ask(site_of(), "GET", "/metrics", known=known, auth=("me", "a" * 72)).status_code == 200
    assert ask(site_of(), "GET", "/metrics", known=known, auth=("me", "a" * 73)).status_code == 401


def test_a_good_pair_is_remembered_and_a_bad_one_is_not() -> None:
    from bcon_exporter.outputs.http.users import Credentials

    known = users(me="correct horse")
    good, bad = Credentials("me", b"correct horse"), Credentials("me", b"wrong")

    assert (known.check(good), known.check(bad)) == (True, False)
    assert (known.remembers(good), known.remembers(bad)) == (True, False)


@pytest.mark.promise("S4")
@table(("size", "status"), [(BODY_MAX_BYTES, 400), (BODY_MAX_BYTES + 1, 413)])
def test_bodies_above_64_kib_are_refused(size: int, status: int) -> None:
    answer = ask(
        site_of(),
        "POST",
        "/api/v1/tools/health_check",
        content=b"x" * size,
        headers={"content-type": "application/json"},
    )

    assert answer.status_code == status
    assert error_of(answer)["code"] == "invalid_input"


@pytest.mark.promise("S4")
def test_a_body_without_declared_length_is_counted_as_it_comes() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 8192

    answer = ask(site_of(), "POST", "/api/v1/tools/health_check", content=pieces())

    assert answer.status_code == 413


@table(
    ("declared", "sent", "left"),
    [
        pytest.param(BODY_MAX_BYTES + 1, 20, 0, id="swallowed"),
        pytest.param(None, 20, 0, id="swallowed-undeclared"),
        pytest.param(None, 200, 71, id="endless"),
        pytest.param(2**20 + 1, 20, 20, id="far-too-large"),
    ],
)
def test_a_client_that_sends_somewhat_too_much_gets_to_read_why(declared: int | None, sent: int, left: int) -> None:
    waiting = [{"type": "http.request", "body": b"x" * 8192, "more_body": n > 0} for n in range(sent)]

    async def receive() -> dict[str, object]:
        return waiting.pop()

    length = (b"content-length", str(declared).encode())
    headers = [length if declared else (b"transfer-encoding", b"chunked")]
    with pytest.raises(BodyRefusedError) as refused:
        asyncio.run(buffer_body({"headers": headers}, receive))

    assert (refused.value.status, len(waiting)) == (413, left)


@table(("length", "status"), [("-1", 400), ("abc", 400), ("1e3", 400), ("", 400), ("65537", 413), ("9" * 5000, 413)])
def test_a_length_that_is_no_number_is_refused_like_other_nonsense(length: str, status: int) -> None:
    answer = ask(site_of(), "POST", "/api/v1/tools/health_check", headers={"content-length": length})

    assert (answer.status_code, error_of(answer)["code"]) == (status, "invalid_input")


@pytest.mark.promise("S4")
def test_a_body_that_does_not_come_is_a_timeout() -> None:
    async def never() -> bool:
        return await asyncio.Event().wait()

    with pytest.raises(BodyRefusedError) as refused:
        asyncio.run(buffer_body({"headers": [(b"content-length", b"5")]}, never, seconds=0.0))

    assert (refused.value.status, refused.value.error.code) == (408, ErrorCode.TIMEOUT)
    with pytest.raises(BodyRefusedError) as refused:
        asyncio.run(buffer_body({"headers": [(b"content-length", b"65537")]}, never, seconds=0.0))

    assert refused.value.status == 413


@table("method", ["POST", "PUT", "DELETE", "PATCH"])
@table("path", ["/metrics", "/", "/-/healthy", "/-/ready", "/api/v1/diagnosis", "/openapi.json"])
def test_other_methods_are_405(method: str, path: str) -> None:
    answer = ask(site_of(), method, path)

    assert answer.status_code == 405
    assert error_of(answer)["code"] == "invalid_input"
    assert answer.headers["allow"] == "GET, HEAD"


def test_a_defect_is_an_envelope_for_the_client_and_a_traceback_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    site = new_site(make_context())

    async def broken(_scope: object, _receive: object, _send: object) -> None:
        msg = "secret inside"
        raise RuntimeError(msg)

    site.plain["/metrics"] = broken

    answer = ask(site, "GET", "/metrics")

    assert answer.status_code == 500
    assert error_of(answer)["code"] == "internal_error"
    assert "secret inside" not in answer.text
    assert "secret inside" in caplog.text


def test_reports_do_not_stand_on_the_bare_page() -> None:
    host = snapshot(container())
    context = make_context(host)
    context.scans.publish_diagnosis(scan_of(host))
    site = site_of(context)

    bare, full = ask(site, "GET", "/", policy=BEYOND, host="x.example"), ask(site, "GET", "/")

    assert "The one container is well" in full.text
    assert "container" not in bare.text
    assert "script" not in bare.text
    assert "api/v1" not in bare.text


def test_below_a_prefix_all_is_served_and_beside_it_nothing() -> None:
    site = site_of(make_context(snapshot(container())))
    policy = ListenerPolicy(loopback=True, route_prefix="/docker/host")

    for path in ("/", "/metrics", "/-/healthy", "/api/v1/health", "/assets/page.css"):
        assert ask(site, "GET", f"/docker/host{path}", policy=policy).status_code == 200, path
    for path in ("/metrics", "/-/healthy", "/docker", "/docker/hostile/metrics", "/docker/host/docker/host/metrics"):
        assert ask(site, "GET", path, policy=policy).status_code == 404, path
    for path in ("/", "/docker/host"):
        answer = ask(site, "GET", path, policy=policy, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (308, "/docker/host/")


def test_the_prefix_takes_no_rule_away() -> None:
    policy = ListenerPolicy(loopback=False, route_prefix="/docker")

    assert ask(site_of(), "GET", "/docker/api/v1/health", policy=policy).status_code == 403
    assert ask(site_of(), "GET", "/docker/metrics", policy=policy).status_code == 200
    assert ask(site_of(), "GET", "/docker/api/v1/health", policy=policy, known=users(me="pw")).status_code == 401
