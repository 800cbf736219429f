"""Draws the shipped documents: Markdown without raw HTML. They hold nothing of the host.

They are served as they lie in their folder, so a link from one to another is left as it is. Any other link of theirs
leads into the repository.
"""

import posixpath
import re  # noqa: TID251 -- sees the project's own documents and names, which are matched whole
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bcon_exporter import REPOSITORY_URL
from bcon_exporter.outputs.pages.html import render_template
from bcon_exporter.shipped_documents import find_documents

if TYPE_CHECKING:
    from markdown_it.token import Token

_NAME = re.compile(r"(?:runbooks/)?[A-Za-z0-9-]{1,80}")
_INDEX = "README"
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_IMAGE = re.compile(r'<img [^>]*?alt="([^"]*)"[^>]*>')
_NO_ANCHOR = re.compile(r"[^\w\- ]")


def render_document(path: str, root: str) -> str | None:
    """Return the page of a document; None where there is none of this name.

    Args:
        path: Below docs/, with or without `.md`; "" for the list of all by task.
        root: Leads from the page to the first one: "../" or "../../".
    """
    name = path.removesuffix(".md") or _INDEX
    file = _find(name)
    if file is None:
        return None
    title, body = _draw(name, file.read_text("utf-8"))
    return render_template("document.html", root=root, title=title, body=body)


def _find(name: str) -> Traversable | None:
    """Return the file of a document; None where there is none."""
    file = find_documents() / f"{name}.md" if _NAME.fullmatch(name) else None
    return file if file is not None and file.is_file() else None


@lru_cache(maxsize=16)
def _draw(name: str, text: str) -> tuple[str, str]:
    """Return a document's title and its HTML."""
    from markdown_it import MarkdownIt  # loaded when somebody asks for a document

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = _IMAGE.sub(r"*(picture: \1)*", _COMMENT.sub("", text))
    tokens = markdown.parse(text)
    title = name
    anchors: dict[str, int] = {}
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            heading = "".join(child.content for child in token.children or ())
            before.attrSet("id", _anchor(heading, anchors))
            title = heading if before.tag == "h1" else title
    for token in _all_of(tokens):
        if token.type == "link_open":
            token.attrSet("href", _target(name, str(token.attrGet("href") or "")))
        elif token.type == "image":  # the pictures are not shipped
            token.type, token.tag, token.content = "text", "", f"(picture: {token.content})"
    return title, markdown.renderer.render(tokens, markdown.options, {})


def _all_of(tokens: Iterable["Token"]) -> Iterator["Token"]:
    for token in tokens:
        yield token
        yield from _all_of(token.children or ())


def _anchor(heading: str, taken: dict[str, int]) -> str:
    """Return the name of a heading as GitHub makes it, which the links between documents use."""
    name = _NO_ANCHOR.sub("", heading.lower()).replace(" ", "-")
    number = taken[name] = taken.get(name, -1) + 1
    return f"{name}-{number}" if number else name


def _target(name: str, address: str) -> str:
    """Return where a link of a document leads."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or not parts.path:
        return address
    file = posixpath.normpath(posixpath.join("docs", posixpath.dirname(name), parts.path))
    if file.endswith(".md") and file.startswith("docs/") and _find(file[len("docs/") : -len(".md")]) is not None:
        return address
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{REPOSITORY_URL}/blob/main/{file}{fragment}"
