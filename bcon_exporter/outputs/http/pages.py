"""The landing page and the two probes: what people and orchestrators look at first."""

import base64
import hashlib
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bcon_exporter.model.reports import Status
from bcon_exporter.outputs.http.replies import Receive, Scope, Send, send_reply
from bcon_exporter.outputs.http.threads import RequestThreads
from bcon_exporter.tools import Context

if TYPE_CHECKING:
    from jinja2 import Template

_HTML = b"text/html; charset=utf-8"
_TEXT = b"text/plain; charset=utf-8"
_STYLE = files(__package__).joinpath("landing.css").read_text()
_AILING_MAX = 50
_RANK: tuple[Status, ...] = ("critical", "error", "warning", "healthy")


def readiness(context: Context, hang: str | None, *, is_rendered: bool) -> tuple[bool, str]:
    """Return whether reports can be relied on, and one sentence why or why not.

    Args:
        context: What is known.
        hang: Which scan hangs; None for none.
        is_rendered: Whether /metrics shows a diagnosis too: who waits for this probe scrapes next.
    """
    status = context.store.status("diagnose")
    if hang is not None:
        return False, hang
    if not context.host.is_up():
        return False, status.error.message if status.error else "the engine has not answered yet"
    if context.store.diagnosis is None or not is_rendered:
        return False, status.error.message if status.error else "the first scan has not ended yet"
    return True, "ready"


class Pages:
    """ASGI applications of the landing page and the probes.

    Args:
        find_hang: Says which scan hangs or is no longer started; None for none.
        is_rendered: Tells whether /metrics shows a diagnosis.
        threads: Render the landing page, so that no scrape waits for it.
    """

    def __init__(
        self,
        context: Callable[[], Context],
        find_hang: Callable[[], str | None],
        is_rendered: Callable[[], bool],
        threads: RequestThreads,
    ) -> None:
        self._context = context
        self._threads = threads
        self._find_hang = find_hang
        self._is_rendered = is_rendered
        digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
        self._policy = f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'; base-uri 'none'"

    @cached_property
    def _template(self) -> "Template":
        from jinja2 import Environment, PackageLoader, StrictUndefined  # a daemon that is only scraped shows no page

        environment = Environment(
            loader=PackageLoader("bcon_exporter.outputs.http", "."), autoescape=True, undefined=StrictUndefined
        )
        return environment.get_template("landing.html")

    async def healthy(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 200 while scans are started on time and end; a hung engine does not change that."""
        hang = self._find_hang()
        await send_reply(send, 200 if hang is None else 503, f"{hang or 'healthy'}\n".encode(), _TEXT)

    async def ready(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 200 when there is a good scan and the engine is reached, else 503 with a hint."""
        good, hint = readiness(self._context(), self._find_hang(), is_rendered=self._is_rendered())
        shown = hint if good or not scope["bcon.bare"] else "not ready"
        await send_reply(send, 200 if good else 503, f"{shown}\n".encode(), _TEXT)

    async def landing(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the links, and with the counts unless everybody may look."""
        page = await self._threads.run(lambda: self._render(bare=scope["bcon.bare"]))
        await send_reply(send, 200, page.encode(), _HTML, [(b"content-security-policy", self._policy.encode())])

    def _render(self, *, bare: bool) -> str:
        context = self._context()
        good, state = _state(context, self._find_hang(), is_rendered=self._is_rendered())
        facts = {} if bare else _latest_facts(context)
        return self._template.render(
            style=_STYLE, version=context.version, bare=bare, good=good, state=state, **_NOTHING | facts
        )


def _state(context: Context, hang: str | None, *, is_rendered: bool) -> tuple[bool, str]:
    """Return whether all is as it should be, and one sentence for people."""
    ready, hint = readiness(context, hang, is_rendered=is_rendered)
    error = context.store.status("diagnose").error
    if ready and error is not None:
        return False, f"The engine answers, but the last scan failed: {error.message}"
    return ready, "The engine answers, and the last scan succeeded." if ready else hint


_NOTHING = dict.fromkeys(("engine", "report", "ailing", "more", "unchecked", "age", "projects", "drift_age"))


def _latest_facts(context: Context) -> dict[str, Any]:
    """Return what the page shows of the last scans."""
    facts: dict[str, Any] = {}
    diagnosis, drift, now = context.store.diagnosis, context.store.drift, context.monotonic()
    if diagnosis is not None:
        ailing = [one for one in diagnosis.report.summaries if one.status != "healthy"]
        ailing.sort(key=lambda one: (_RANK.index(one.status), one.container_name))
        facts = {
            "engine": diagnosis.snapshot.engine,
            "report": diagnosis.report,
            "ailing": ailing[:_AILING_MAX],
            "more": max(0, len(ailing) - _AILING_MAX),
            "unchecked": diagnosis.report.unchecked[:_AILING_MAX],
            "age": f"{now - diagnosis.finished_monotonic:.0f} s",
        }
    if drift is not None:
        facts |= {"projects": drift.reports, "drift_age": f"{now - drift.finished_monotonic:.0f} s"}
    return facts
