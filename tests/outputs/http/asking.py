"""Asks a site without a network: httpx over ASGI, the way a client sees it."""

from __future__ import annotations

import asyncio
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx

from bcon_exporter.outputs.http import ListenerPolicy, RateLimits, Site, Users, make_site
from bcon_exporter.outputs.mcp import McpApp
from tests.outputs.scenes import make_context, make_exposition

if TYPE_CHECKING:
    from bcon_exporter.tools import Context

LOOPBACK = ListenerPolicy(loopback=True)
BEYOND = ListenerPolicy(loopback=False)
INSECURE = ListenerPolicy(loopback=False, allow_insecure=True)


def users_with_tokens(**tokens: str) -> Users:
    """Users who show bearer tokens."""
    return Users({}, tokens={name: hashlib.sha256(token.encode()).hexdigest() for name, token in tokens.items()})


def users(**passwords: str) -> Users:
    """Users with cheap hashes."""
    import bcrypt

    return Users({name: bcrypt.hashpw(word.encode(), bcrypt.gensalt(4)).decode() for name, word in passwords.items()})


def site_of(context: Context | None = None, *, hang: str | None = None) -> Site:
    """A site over a context; over a replayed empty host when none is given."""
    if context is None and hang is None:
        return _empty_site()
    return new_site(context or make_context(), hang=hang)


def new_site(context: Context, *, hang: str | None = None) -> Site:
    """A site of one's own; the latest scans have been rendered."""
    exposition = make_exposition(context)
    exposition.publish("diagnose")
    exposition.publish("drift")
    return make_site(lambda: context, exposition, lambda: hang, McpApp(lambda: context, ("core",)))


@cache
def _empty_site() -> Site:
    """Made once: the API's schemas take a while."""
    return new_site(make_context())


def ask(
    site: Site,
    method: str,
    path: str,
    *,
    policy: ListenerPolicy = LOOPBACK,
    known: Users | None = None,
    host: str = "localhost:19877",
    limits: RateLimits | None = None,
    **options: Any,
) -> httpx.Response:
    """Send one request through the gate and return the answer."""
    app = site.behind(lambda: policy, lambda: known, limits)

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        headers = {"host": host, **options.pop("headers", {})}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:19877") as client:
            return await client.request(method, f"http://localhost:19877{path}", headers=headers, **options)

    return asyncio.run(send())


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The error in an answer's envelope, whose shape is checked."""
    body = answer.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "details"}
    assert "Traceback" not in answer.text
    return error
