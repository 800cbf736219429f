"""The landing page and the two probes: what people and orchestrators look at first."""

import base64
import hashlib
from collections.abc import Callable
from functools import cached_property

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from bcon_exporter.outputs.http.replies import Receive, Scope, Send, send_reply
from bcon_exporter.tools import Context

_HTML = b"text/html; charset=utf-8"
_TEXT = b"text/plain; charset=utf-8"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0}caption{text-align:left;font-weight:600}"
    "td,th{border:1px solid #8888;padding:.2rem .8rem;text-align:left}.bad{color:#b00020}.good{color:#1b6e2d}"
)


def readiness(context: Context) -> tuple[bool, str]:
    """Return whether reports can be relied on, and one sentence why or why not."""
    status = context.store.status("diagnose")
    if not context.host.is_up():
        return False, status.error.message if status.error else "the engine has not answered yet"
    if context.store.diagnosis is None:
        return False, status.error.message if status.error else "the first scan has not ended yet"
    return True, "ready"


class Pages:
    """ASGI applications of the landing page and the probes.

    Args:
        is_alive: Tells whether the scheduler still runs.
    """

    def __init__(self, context: Callable[[], Context], is_alive: Callable[[], bool]) -> None:
        self._context = context
        self._is_alive = is_alive
        digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
        self._policy = f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'; base-uri 'none'"

    @cached_property
    def _template(self) -> Template:
        environment = Environment(
            loader=PackageLoader("bcon_exporter.outputs.http", "."), autoescape=True, undefined=StrictUndefined
        )
        return environment.get_template("landing.html")

    async def healthy(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 200 while scans are started on time; a hung engine does not change that."""
        if self._is_alive():
            await send_reply(send, 200, b"healthy\n", _TEXT)
        else:
            await send_reply(send, 503, b"scans are no longer started; restart bcon-exporter\n", _TEXT)

    async def ready(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 200 when there is a good scan and the engine is reached, else 503 with a hint."""
        good, hint = readiness(self._context())
        shown = hint if good or not scope["bcon.bare"] else "not ready"
        await send_reply(send, 200 if good else 503, f"{shown}\n".encode(), _TEXT)

    async def landing(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the links, and with the counts unless everybody may look."""
        body = self._render(bare=scope["bcon.bare"]).encode()
        await send_reply(send, 200, body, _HTML, [(b"content-security-policy", self._policy.encode())])

    def _render(self, *, bare: bool) -> str:
        context = self._context()
        ready, hint = readiness(context)
        diagnosis, drift = context.store.diagnosis, context.store.drift
        age = context.store.age_seconds("diagnose", context.monotonic())
        return self._template.render(
            style=_STYLE,
            version=context.version,
            bare=bare,
            ready=ready,
            hint=hint,
            report=diagnosis.report if diagnosis else None,
            age=f"{age:.0f} s" if age is not None else "",
            projects=drift.reports if drift else (),
        )
