"""Draws the pictures of the pages: `python -m tests.pages.pictures docs/images`."""

from __future__ import annotations

import html
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bcon_exporter.model.messages import Notice, NoticeKind
from bcon_exporter.outputs.messages.wording import Wording
from tests.pages.browser import open_browser
from tests.pages.stage import dirty_host, healthy_host, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.pages.stage import Served

Scheme = Literal["light", "dark"]
PICTURES: tuple[tuple[str, str, str, int, int, Scheme], ...] = (
    ("page", "dirty", "/", 1440, 1000, "light"),
    ("page-dark", "dirty", "/", 1440, 1000, "dark"),
    ("page-phone", "dirty", "/", 320, 900, "light"),
    ("page-phone-dark", "healthy", "/", 320, 620, "dark"),
    ("page-well", "healthy", "/", 1440, 700, "light"),
    ("page-container", "dirty", "/c/shop-api-1", 1440, 1000, "light"),
    ("page-disk", "dirty", "/#disk", 1440, 620, "light"),
    ("page-incident", "dirty", "/i/INCIDENT", 1440, 900, "dark"),
)
"""Name, host, address, width, height and colours."""


MESSAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 24px; background: linear-gradient(160deg, #1f3a5f, #0e1726); font: 15px/1.45 system-ui, sans-serif; }
div { max-width: 440px; padding: 14px 18px; border-radius: 18px; background: #f6f7f9; color: #14181f; overflow-wrap: anywhere; }
small { color: #5a6472; } b { display: block; margin: 6px 0; } p { margin: 0; white-space: pre-wrap; }
</style><div><small>ntfy · now</small><b>%s</b><p>%s</p></div>"""
"""A message on a phone, as a service shows it."""


def draw_pictures(browser: Browser, folder: Path) -> list[Path]:
    """Draw all into a folder; return their files."""
    with serve(dirty_host()) as dirty, serve(healthy_host()) as healthy:
        hosts = {"dirty": dirty, "healthy": healthy}
        pages = [
            _draw(browser, hosts[host], address, (width, height), scheme, folder / f"{name}.png")
            for name, host, address, width, height, scheme in PICTURES
        ]
        return [*pages, _draw_message(browser, dirty, folder / "message.png")]


def _draw_message(browser: Browser, host: Served, file: Path) -> Path:
    incident = host.context.memory.memory.incidents.open[0].incident
    wording = Wording(
        host="attic",
        external_url="https://bcon.shop.example",
        to_local=lambda at: at,
        hide=lambda text: text,
        scan=host.context.scans.diagnosis,
    )
    notice = Notice(incident_id=incident.id, kind=NoticeKind.OPENED, severity=incident.severity)
    message = wording.write("key", [(notice, incident)], host.context.now())
    page = browser.new_page(viewport={"width": 520, "height": 200}, device_scale_factor=2)
    page.set_content(MESSAGE % (html.escape(message.title), html.escape(message.body)))
    page.screenshot(path=file, full_page=True)
    page.close()
    return file


def _draw(browser: Browser, host: Served, address: str, size: tuple[int, int], scheme: Scheme, file: Path) -> Path:
    incidents = host.context.memory.memory.incidents.open
    path = address.replace("INCIDENT", incidents[0].incident.id if incidents else "")
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page.goto(host.url + path)
    page.screenshot(path=file)
    page.close()
    return file


if __name__ == "__main__":
    with open_browser() as opened:
        for drawn in draw_pictures(opened, Path(sys.argv[1])):
            print(drawn)
