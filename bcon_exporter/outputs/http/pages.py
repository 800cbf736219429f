"""The pages and the two probes: what people and orchestrators look at first."""

from collections.abc import Callable
from urllib.parse import parse_qsl

from bcon_exporter.errors import BconError, InvalidInputError
from bcon_exporter.outputs.http.access_control import DOCUMENTS_PATH
from bcon_exporter.outputs.http.form_tokens import form_token
from bcon_exporter.outputs.http.host_status import render_status
from bcon_exporter.outputs.http.replies import (
    STATUS_BY_CODE,
    Receive,
    Scope,
    Send,
    extra_headers,
    http_error,
    send_error,
    send_reply,
)
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.tools import Context

_HTML = b"text/html; charset=utf-8"
_TEXT = b"text/plain; charset=utf-8"
_FIELDS_MAX = 20
PAGE_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_REFERRER = (b"referrer-policy", b"same-origin")
"""With "no-referrer", a browser gives `null` as the origin of our own form."""
KIND_BELOW = {"c": "container", "i": "incident", "p": "project"}
"""First part of a path → the page of what its second part names."""
KIND_AT = {"/": "overview", "/history": "history", "/alerts": "alerts"}


def readiness(context: Context, hang: str | None, *, is_rendered: bool) -> tuple[bool, str]:
    """Return whether reports can be relied on, and one sentence why or why not.

    Args:
        context: Holds the last scan and the state of the engine.
        hang: Which scan hangs; None for none.
        is_rendered: Whether /metrics shows a diagnosis too: who waits for this probe scrapes next.
    """
    status = context.scans.status("diagnose")
    if hang is not None:
        return False, hang
    if not context.host.is_up():
        return False, status.error.message if status.error else "the engine has not answered yet"
    if context.scans.diagnosis is None or not is_rendered:
        return False, status.error.message if status.error else "the first scan has not ended yet"
    return True, "ready"


class Pages:
    """ASGI applications of the pages and the probes.

    Args:
        find_hang: Names the scan that hangs or is no longer started; None where all is well.
        is_rendered: Returns whether /metrics shows a diagnosis.
        threads: Render the pages, so that no scrape waits for them.
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

    async def healthy(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 200 while scans are started on time and end; a hung engine does not change that."""
        hang = self._find_hang()
        await send_reply(send, 200 if hang is None else 503, f"{hang or 'healthy'}\n".encode(), _TEXT)

    async def ready(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 200 when there is a good scan and the engine is reached, else 503 with a hint."""
        good, hint = readiness(self._context(), self._find_hang(), is_rendered=self._is_rendered())
        shown = hint if good or not scope["bcon.bare"] else "not ready"
        await send_reply(send, 200 if good else 503, f"{shown}\n".encode(), _TEXT)

    async def status(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with how the host is, in few bytes."""
        body = await self._threads.run(lambda: render_status(self._context(), self._find_hang()))
        await send_reply(send, 200, body, b"application/json")

    async def page(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with a page; strangers get one without any report."""
        status, page = await self._threads.run(lambda: self._render(scope))
        headers = [(b"content-security-policy", PAGE_POLICY), _REFERRER, *extra_headers(status)]
        await send_reply(send, status, page.encode(errors="replace"), _HTML, headers)

    async def document(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with a document of the project, which tells nothing of the host."""
        page = await self._threads.run(lambda: _render_document(scope["path"]))
        if page is None:
            await send_error(send, http_error(404), 404)
            return
        await send_reply(send, 200, page.encode(), _HTML, [(b"content-security-policy", PAGE_POLICY)])

    async def asset(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the style or the script of all pages."""
        from bcon_exporter.outputs.pages import ASSETS  # loads the pages

        content, content_type = ASSETS.get(scope["path"].rpartition("/")[2], (b"", b""))
        if not content or scope["path"].count("/") != 2:  # noqa: PLR2004 -- /assets/NAME
            await send_error(send, http_error(404), 404)
            return
        await send_reply(send, 200, content, content_type, [(b"cache-control", b"public, max-age=86400")])

    def _render(self, scope: Scope) -> tuple[int, str]:
        from bcon_exporter.outputs.pages import PageRequest, render_bare, render_error, render_page  # slow to import

        context, hang = self._context(), self._find_hang()
        if scope["bcon.bare"]:
            return 200, render_bare(context.version)
        first, _, argument = scope["path"][1:].partition("/")
        kind = KIND_AT.get(scope["path"]) or KIND_BELOW[first]
        root = _root_of(scope["path"])
        try:
            query = _parse_query(scope["query_string"])
            wanted = PageRequest(kind, argument, query, root, form_token(scope))
            return 200, render_page(context, hang, wanted)
        except BconError as error:
            return STATUS_BY_CODE[error.code], render_error(context, hang, PageRequest(kind, argument, {}, root), error)


def _render_document(path: str) -> str | None:
    from bcon_exporter.outputs.pages import render_document  # slow to import

    return render_document(path.removeprefix(DOCUMENTS_PATH), _root_of(path))


def _root_of(path: str) -> str:
    """Return what leads from a page to the first one."""
    return "../" * path.count("/", 1) or "./"


def _parse_query(raw: bytes) -> dict[str, str]:
    """Return a query's fields.

    Raises:
        InvalidInputError: There are too many.
    """
    try:
        return dict(parse_qsl(raw.decode("latin-1"), max_num_fields=_FIELDS_MAX))
    except ValueError:
        msg = f"the query has more than {_FIELDS_MAX} fields"
        raise InvalidInputError(msg, {}) from None
