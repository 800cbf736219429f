"""Debian's Chromium, driven by Playwright; nothing is downloaded."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.programs import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser until the end of the block."""
    need("chromium")
    from playwright.sync_api import sync_playwright  # weighs much: `make unit` opens no browser

    with sync_playwright() as playwright:
        # A container's kernel often gives no user namespaces to Chromium's sandbox; it sees only pages of ours.
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        try:
            yield browser
        finally:
            browser.close()
