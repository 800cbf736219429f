"""The exporter serves its own documents: each is drawn, and no link or anchor between them leads nowhere."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import urldefrag

import pytest

from bcon_exporter import REPOSITORY_URL
from tests.outputs.http.asking import BEYOND, ask, site_of
from tests.table_rows import table

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
NAMES = ["", *(str(file.relative_to(DOCS)) for folder in ("", "runbooks") for file in (DOCS / folder).glob("*.md"))]
LEFT_OVER = ("&lt;!--", "&lt;img", "<script", "](")


def draw(name: str) -> str:
    """The page of a document, as a stranger beyond loopback gets it."""
    answer = ask(site_of(), "GET", f"/docs/{name}", policy=BEYOND, host="any.example")
    assert answer.status_code == 200, name
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    return answer.text


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    """Every page by its path below docs/."""
    return {name: draw(name) for name in NAMES}


def test_each_document_is_drawn_whole(drawn: dict[str, str]) -> None:
    assert len(drawn) > 60
    for name, page in drawn.items():
        plain = re.sub(r"<(pre|code)>.*?</\1>", "", page, flags=re.DOTALL)
        assert [left for left in LEFT_OVER if left in plain] == [], name
        assert re.search(r"<h1 id=.+?</h1>", page), name


def test_a_link_leads_to_a_document_and_its_heading_or_into_the_repository(drawn: dict[str, str]) -> None:
    wrong, between = [], 0
    for name, page in drawn.items():
        for address in re.findall(r'href="([^"]+)"', page.partition("<main")[2]):
            path, fragment = urldefrag(address)
            if path.startswith(("http://", "https://")):
                inside = path.removeprefix(f"{REPOSITORY_URL}/blob/main/")
                if inside != path and not (ROOT / inside).exists():
                    wrong.append((name, address))
                continue
            between += 1
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target not in drawn or (fragment and f'id="{fragment}"' not in drawn[target]):
                wrong.append((name, address))
    assert wrong == []
    assert between > 100


def test_a_runbook_is_found_with_and_without_its_ending() -> None:
    assert draw("runbooks/BconConfigDrift") == draw("runbooks/BconConfigDrift.md")


@table(
    "name",
    ["nothing", "../README", "%2e%2e/README", "development/tour", "runbooks/", "alerts.md.md", "a%00b", "a" * 5_000],
)
def test_what_is_no_shipped_document_is_not_there(name: str) -> None:
    assert ask(site_of(), "GET", f"/docs/{name}").status_code == 404


def test_documents_below_a_prefix_lead_to_each_other_and_to_the_first_page() -> None:
    page = draw("runbooks/BconConfigDrift")

    assert 'href="../../docs/"' in page
    assert 'class="brand" href="../../"' in page


def test_the_pages_lead_to_the_documents() -> None:
    assert 'href="./docs/"' in ask(site_of(), "GET", "/").text
