"""Renders the pages with Jinja2: every text is escaped, and no style or script stands in a page itself."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from bcon_exporter.drift.wording import WOULD
from bcon_exporter.errors import BconError
from bcon_exporter.incidents import ENDED_BY, NOT_MENDED, HostTone
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.outputs.pages import container_table, views
from bcon_exporter.outputs.text.disk import KIND_NAMES, tell_space, tell_users
from bcon_exporter.tools import Context

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS: Mapping[str, tuple[bytes, bytes]] = {
    name: (files(__package__).joinpath("assets", name).read_bytes(), content_type)
    for name, content_type in (
        ("page.css", b"text/css; charset=utf-8"),
        ("page.js", b"text/javascript; charset=utf-8"),
    )
}
"""Name → content and its type. They hold nothing of the host."""
_ASSETS_VERSION = hashlib.sha256(b"".join(content for content, _ in ASSETS.values())).hexdigest()[:8]

_SIGNS = {
    HostTone.GOOD: ("#17803d", "M9 16.5l5 5 9-10"),
    HostTone.UNKNOWN: ("#5d5fb5", "M12 12.5a4 4 0 1 1 5.6 3.6c-1 .5-1.6 1.2-1.6 2.4M16 23v.1"),
    HostTone.WARNING: ("#b06a00", "M16 8.5v9M16 23v.1"),
    HostTone.BAD: ("#c62828", "M11 11l10 10M21 11l-10 10"),
}
_TIMELINE_TONES = {
    JournalKind.CRASH: "error",
    JournalKind.OOM: "critical",
    JournalKind.KILL: "warning",
    JournalKind.GAP: "warning",
    JournalKind.ENGINE_RESTART: "warning",
    JournalKind.INCIDENT_OPEN: "error",
    JournalKind.INCIDENT_CLOSE: "healthy",
    JournalKind.SYMPTOM_ON: "warning",
    JournalKind.SYMPTOM_OFF: "healthy",
    JournalKind.DRIFT_ON: "warning",
    JournalKind.DRIFT_OFF: "healthy",
}


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page is asked for.

    Attributes:
        kind: Name of its template.
        argument: Of the container, incident or project.
        root: Leads from the page to the first one: "./" or "../".
        token: Shows that a form is one of ours.
    """

    kind: str
    argument: str = ""
    query: Mapping[str, str] | None = None
    root: str = "./"
    token: str = ""


def favicon(tone: HostTone) -> str:
    """Return the sign of a tone as the address of an image."""
    colour, path = _SIGNS[tone]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="{colour}"/>'
        f'<path d="{path}" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round"/></svg>'
    )
    return f"data:image/svg+xml,{quote(svg)}"


def sign_path(tone: HostTone) -> str:
    """Return the path within the sign of a tone."""
    return _SIGNS[tone][1]


_GLOBALS: Mapping[str, object] = {
    "favicon": favicon,
    "sign_path": sign_path,
    "would": WOULD,
    "kind_names": KIND_NAMES,
    "tell_space": tell_space,
    "tell_users": tell_users,
    "ended_by": ENDED_BY,
    "not_mended": NOT_MENDED,
    "with_query": lambda query, **changed: urlencode({k: v for k, v in {**query, **changed}.items() if v}),
    "columns": container_table.COLUMNS,
    "kinds": tuple(JournalKind),
    "timeline_tones": _TIMELINE_TONES,
    "assets_version": _ASSETS_VERSION,
    "no_project": container_table.NO_PROJECT,
}
"""What every template knows beside its page."""


@cache
def _template_environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # commands do without its weight

    from bcon_exporter.outputs.pages.contained_row import ContainedRow
    from bcon_exporter.outputs.pages.filters import FILTERS

    environment = Environment(
        loader=PackageLoader("bcon_exporter.outputs.pages", "templates"),
        autoescape=True,
        extensions=(ContainedRow,),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    environment.filters |= FILTERS
    environment.globals |= _GLOBALS
    return environment


def _read(context: Context, hang: str | None, wanted: PageRequest) -> Any:
    query = wanted.query or {}
    readers: dict[str, Callable[[], Any]] = {
        "overview": lambda: views.read_overview(context, hang, query),
        "container": lambda: views.read_container(context, wanted.argument, query),
        "incident": lambda: views.read_incident(context, wanted.argument),
        "project": lambda: views.read_project(context, wanted.argument),
        "history": lambda: views.read_history(context, query),
        "alerts": lambda: views.read_alerts(context),
    }
    return readers[wanted.kind]()


def render_page(context: Context, hang: str | None, wanted: PageRequest) -> str:
    """Return a page.

    Raises:
        BconError: There is no such container, incident or project, or the query cannot be.
    """
    page = _read(context, hang, wanted)
    host = views.read_host(context, hang)
    template = _template_environment().get_template(f"{wanted.kind}.html")
    return template.render(
        host=host, page=page, root=wanted.root, token=wanted.token, contained=context.errors.contained
    )


def render_error(context: Context, hang: str | None, wanted: PageRequest, error: BconError) -> str:
    """Return the page that says what is wrong with a request."""
    near = error.details.get("near_matches")
    template = _template_environment().get_template("error.html")
    return template.render(
        host=views.read_host(context, hang),
        root=wanted.root,
        contained=context.errors.contained,
        error=error,
        near=near if isinstance(near, list | tuple) else (),
        kind=wanted.kind,
    )


def render_template(name: str, **values: object) -> str:
    """Return a page that shows nothing of the host."""
    return _template_environment().get_template(name).render(contained=nullcontext, **values)


def render_bare(version: str) -> str:
    """Return what strangers see: no report, no name."""
    return render_template("bare.html", version=version, root="./")
