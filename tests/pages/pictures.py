"""Draws the pictures of the pages: `python -m tests.pages.pictures docs/images`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
    ("page-incident", "dirty", "/i/INCIDENT", 1440, 900, "dark"),
)
"""Name, host, address, width, height and colours."""


def draw_pictures(browser: Browser, folder: Path) -> list[Path]:
    """Draw all into a folder; return their files."""
    with serve(dirty_host()) as dirty, serve(healthy_host()) as healthy:
        hosts = {"dirty": dirty, "healthy": healthy}
        return [
            _draw(browser, hosts[host], address, (width, height), scheme, folder / f"{name}.png")
            for name, host, address, width, height, scheme in PICTURES
        ]


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
