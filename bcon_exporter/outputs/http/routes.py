"""The site: which application answers which path."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bcon_exporter.outputs.http.access_control import (
    DOCUMENTS_PATH,
    MCP_PATH,
    STREAM_PATH,
    TAIL_PATH,
    App,
    Gate,
    ListenerPolicy,
)
from bcon_exporter.outputs.http.host_status import STATUS_PATH
from bcon_exporter.outputs.http.live import LiveStreams
from bcon_exporter.outputs.http.log_tails import LogTails
from bcon_exporter.outputs.http.metrics_endpoint import ScrapeApp
from bcon_exporter.outputs.http.pages import KIND_AT, KIND_BELOW, Pages
from bcon_exporter.outputs.http.rate_limits import RateLimits
from bcon_exporter.outputs.http.replies import Receive, Scope, Send, http_error, send_error
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.stages import STAGES, Stages, announce, find_deprecated
from bcon_exporter.outputs.http.users import Users
from bcon_exporter.outputs.metrics import Exposition
from bcon_exporter.tools import Context


@dataclass(frozen=True, slots=True)
class Site:
    """The applications of all listeners: plain ones by path, those of names by its first part, the API for the rest.

    Attributes:
        posted: Those that take POST and nothing else, by path.
        deprecated: Addresses whose answers say so.
    """

    plain: dict[str, App]
    below: dict[str, App]
    live: LiveStreams
    api: App
    posted: dict[str, App] = field(default_factory=dict)
    deprecated: Stages = field(default_factory=lambda: find_deprecated(STAGES))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route one request that the gate has admitted."""
        send = announce(self.deprecated, scope, send)
        if (posted := self.posted.get(scope["path"])) is not None:
            await _answer_post(posted, scope, receive, send)
            return
        first, _, rest = scope["path"][1:].partition("/")
        app = self.plain.get(scope["path"]) or (self.below.get(first) if rest else None)
        if app is None:
            await self.api(scope, receive, send)
        elif scope["method"] != "GET":
            await send_error(send, http_error(405), 405, [(b"allow", b"GET, HEAD")])
        else:
            await app(scope, receive, send)

    def without_agents(self) -> "Site":
        """Return the same site without what agents ask: for a listener that is not the API's."""
        return replace(self, posted={path: app for path, app in self.posted.items() if path != MCP_PATH})

    def behind(
        self, policy: Callable[[], ListenerPolicy], users: Callable[[], Users | None], limits: RateLimits | None = None
    ) -> Gate:
        """Return the application of one listener; `policy` and `users` are asked at each request."""
        return Gate(self, policy, users, limits or RateLimits())


async def _answer_post(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] == "POST":
        await app(scope, receive, send)
    else:
        await send_error(send, http_error(405), 405, [(b"allow", b"POST")])


class ApiOnDemand:
    """The JSON API, made at its first request: a daemon that is only scraped saves the 9 MB of FastAPI.

    It is made in a thread, since that takes half a second in which a scrape would wait.
    """

    def __init__(self, context: Callable[[], Context], threads: RequestThreads) -> None:
        self._context = context
        self._threads = threads
        self._making = asyncio.Lock()
        self._api: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with self._making:
            if self._api is None:
                self._api = await self._threads.run(self._make)
        await self._api(scope, receive, send)

    def _make(self) -> App:
        from bcon_exporter.outputs.http.api import create_api

        return create_api(self._context, self._threads)


def make_site(
    context: Callable[[], Context],
    exposition: Exposition,
    find_hang: Callable[[], str | None],
    agents: App | None = None,
) -> Site:
    """Return the site.

    Args:
        context: The context in force.
        exposition: What /metrics answers.
        find_hang: Names the scan that hangs or is no longer started, None where all is well.
        agents: What answers agents at /mcp; None where they are not served.
    """
    threads = RequestThreads()
    pages = Pages(context, find_hang, lambda: exposition.has_rendered("diagnose"), threads)
    live = LiveStreams(context, find_hang, threads)
    plain: dict[str, App] = {
        **dict.fromkeys(KIND_AT, pages.page),
        STREAM_PATH: live,
        STATUS_PATH: pages.status,
        "/metrics": ScrapeApp(exposition),
        DOCUMENTS_PATH: pages.document,
        "/-/healthy": pages.healthy,
        "/-/ready": pages.ready,
    }
    below: dict[str, App] = {**dict.fromkeys(KIND_BELOW, pages.page), "assets": pages.asset}
    below[DOCUMENTS_PATH.strip("/")] = pages.document
    below[TAIL_PATH.strip("/")] = LogTails(context, live, threads)
    posted = {} if agents is None else {MCP_PATH: agents}
    return Site(plain, below, live, ApiOnDemand(context, threads), posted)
