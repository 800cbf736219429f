"""Everything that is served, path by path, behind its gate."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from bcon_exporter.outputs.http.gate import App, Door, Gate
from bcon_exporter.outputs.http.pages import Pages
from bcon_exporter.outputs.http.rate_limits import Limits
from bcon_exporter.outputs.http.replies import Receive, Scope, Send, http_error, send_error
from bcon_exporter.outputs.http.scrape import ScrapeApp
from bcon_exporter.outputs.http.threads import RequestThreads
from bcon_exporter.outputs.http.users import Users
from bcon_exporter.outputs.metrics import Exposition
from bcon_exporter.tools import Context


@dataclass(frozen=True, slots=True)
class Site:
    """The applications of all listeners: plain ones by path, and the API for the rest."""

    plain: dict[str, App]
    api: App

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route one request that the gate has admitted."""
        app = self.plain.get(scope["path"])
        if app is None:
            await self.api(scope, receive, send)
        elif scope["method"] != "GET":
            await send_error(send, http_error(405), 405, [(b"allow", b"GET, HEAD")])
        else:
            await app(scope, receive, send)

    def behind(self, door: Callable[[], Door], users: Callable[[], Users | None], limits: Limits | None = None) -> Gate:
        """Return the application of one listener; `door` tells what it lets in now, `limits` how often."""
        return Gate(self, door, users, limits or Limits())


class ApiOnDemand:
    """The JSON API, made for the first request to it: a daemon that is only scraped does without its framework's 9 MB.

    It is made in a thread, since no scrape may wait the half second that this takes.
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


def make_site(context: Callable[[], Context], exposition: Exposition, find_hang: Callable[[], str | None]) -> Site:
    """Return the site; `find_hang` says which scan hangs or is no longer started, None for none."""
    threads = RequestThreads()
    pages = Pages(context, find_hang, lambda: exposition.has_rendered("diagnose"), threads)
    plain: dict[str, App] = {
        "/": pages.landing,
        "/metrics": ScrapeApp(exposition),
        "/-/healthy": pages.healthy,
        "/-/ready": pages.ready,
    }
    return Site(plain, ApiOnDemand(context, threads))
