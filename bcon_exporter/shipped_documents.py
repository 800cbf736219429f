"""The runbooks and pages of the documentation that come with the package."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

RUNBOOKS = "runbooks"
DOCS = "docs"
_LEFT_OUT = ("README.md", "signatures.md")
"""Not for the search: a table of contents, and what is written from the catalogue; that may hold the user's own too."""


@cache
def read_documents() -> MappingProxyType[str, str]:
    """Return the Markdown of each by its name: `runbooks/BconDiskPressure`, `docs/podman`."""
    folder = find_documents()
    documents = {f"{DOCS}/{one.name[:-3]}": one.read_text("utf-8") for one in _markdown_of(folder)}
    documents |= {f"{RUNBOOKS}/{one.name[:-3]}": one.read_text("utf-8") for one in _markdown_of(folder / "runbooks")}
    return MappingProxyType(documents)


def find_documents() -> Traversable:
    """Return the folder of the wheel; in a clone, where the package holds none, that of the repository."""
    package = files("bcon_exporter")
    shipped = package / "shipped" / "docs"
    return shipped if shipped.is_dir() else package / ".." / "docs"


def _markdown_of(folder: Traversable) -> list[Traversable]:
    found = [one for one in folder.iterdir() if one.name.endswith(".md") and one.name not in _LEFT_OUT]
    return sorted(found, key=lambda one: one.name)
