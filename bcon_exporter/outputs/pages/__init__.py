"""The pages that people open: views read the same reports as the API, templates show them; nothing is judged here."""

from bcon_exporter.outputs.pages.documents import render_document
from bcon_exporter.outputs.pages.html import ASSETS, PageRequest, render_bare, render_error, render_page
from bcon_exporter.outputs.pages.live_rows import LiveState, read_live_state
from bcon_exporter.outputs.pages.views import read_host, why_not_current

__all__ = [
    "ASSETS",
    "LiveState",
    "PageRequest",
    "read_host",
    "read_live_state",
    "render_bare",
    "render_document",
    "render_error",
    "render_page",
    "why_not_current",
]
