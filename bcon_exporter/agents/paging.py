"""Fits an answer into its budget: whole rows while they fit, and words on what was left out. Never longer."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from bcon_exporter.model.quantities import show_count

LONGEST_TEXT = 400
LONGEST_TEXT_IN_DETAIL = 2000
_CUTS = ((400, 20), (200, 20), (200, 8), (120, 8), (80, 5), (60, 3), (40, 2), (24, 1), (12, 1))
"""Longest text and list, ever shorter, by which a value is made to fit."""
_REPORT_SHARE = 4
"""What stands before the rows takes a quarter of the budget at most."""
_OWN_SHARE = 0.6
"""Of an answer without rows our words take so much at most where there is other text too."""


@dataclass(frozen=True)
class Page:
    """What is to be told.

    Attributes:
        title: Name of the tool.
        metadata: Of which host, and when.
        report: Our words beside the rows; of an answer without rows all of them.
        dropped: How many fields of the report had no room.
        key: Where the rows stand; "untrusted": the rows are lines, newest last, of which the oldest are cut first.
        rows: All from the first that is wanted on.
        at_most: So many rows are shown.
        skipped: How many there are before them.
        total: How many there are in all, also such as cannot be had by a higher offset.
        reachable: How many can be had by a higher offset.
        as_of: Names the state of the host that this was read from.
        changed: It is another than that of the page before.
        describe_rest: Says what the rows from a number on are.
        error: What went wrong.
        last: True when the rows cannot be paged on.
    """

    title: str
    metadata: Mapping[str, Any]
    report: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    rows: Sequence[Any] = ()
    at_most: int = 10
    skipped: int = 0
    total: int = 0
    reachable: int = 0
    as_of: str = ""
    changed: bool = False
    describe_rest: Callable[[int], str] = lambda _: ""
    error: Mapping[str, Any] | None = None
    detail: bool = False
    dropped: int = 0


class Writer(Protocol):
    """Writes answers in one format."""

    def row(self, row: Any) -> str:
        """Return a row; it takes no more room anywhere, but for one byte before it."""

    def whole(self, page: Page, report: Mapping[str, Any], rows: Sequence[str], more: Mapping[str, Any] | None) -> str:
        """Return the whole answer with rows that `row` has written."""

    def size(self, value: Any) -> int:
        """Return how many bytes a part of the report takes."""


class Fitted(NamedTuple):
    """An answer as it is written, and whether a next page can be had."""

    body: str
    has_next: bool = False


def fit(page: Page, max_bytes: int, writer: Writer) -> Fitted:
    """Return the answer in at most `max_bytes` bytes."""
    longest = LONGEST_TEXT_IN_DETAIL if page.detail else LONGEST_TEXT
    if page.error is not None:
        return Fitted(_fit_error(page, max_bytes, writer))
    if not page.key:
        return Fitted(_fit_object(page, max_bytes, writer, longest))
    share = max_bytes // _REPORT_SHARE
    report = cut_texts(page.report, longest)
    if writer.size(report) > share:
        report = shrink(page.report, share, writer.size)
        page = replace(page, dropped=len(page.report) - len(report))
    oldest_first = page.key == "untrusted"
    candidates = page.rows[-page.at_most :] if oldest_first else page.rows[: page.at_most]
    rows = list(_fit_rows(page, report, candidates[::-1] if oldest_first else candidates, max_bytes, writer))
    more = tell_more(page, len(rows))
    body = writer.whole(page, report, rows[::-1] if oldest_first else rows, more)
    return Fitted(body, has_next="next" in (more or {}))


def _fit_rows(
    page: Page, report: Mapping[str, Any], candidates: Sequence[Any], max_bytes: int, writer: Writer
) -> Iterator[str]:
    """Yield rows, written, the first ones first, as many as fit; one at least, made to fit."""
    longest = LONGEST_TEXT_IN_DETAIL if page.detail else LONGEST_TEXT
    written = [writer.row(cut_texts(row, longest)) for row in candidates]
    sizes = [len(row.encode()) + 1 for row in written]

    def frame(count: int) -> int:
        return len(writer.whole(page, report, (), tell_more(page, count)).encode())

    taken = 0
    if frame(len(written)) + sum(sizes) <= max_bytes:
        taken = len(written)
    else:
        used = 0
        for count, size in enumerate(sizes, 1):
            used += size
            if used + frame(count) > max_bytes:
                break
            taken = count
    if written and not taken:
        room = max_bytes - frame(1) - 1
        yield writer.row(shrink(candidates[0], room, lambda row: len(writer.row(row).encode())))
        return
    yield from written[:taken]


def _fit_object(page: Page, max_bytes: int, writer: Writer, longest: int) -> str:
    """Return an answer without rows: our words, then as much of the other text as fits."""
    lines = [cut_texts(line, longest) for line in page.rows]
    report = cut_texts(page.report, longest)
    whole = writer.whole(page, report, [writer.row(line) for line in lines], None)
    if len(whole.encode()) <= max_bytes:
        return whole
    more = {"omitted": "texts and lists were cut; a larger max_bytes shows more"}
    more_at_most = {
        "omitted": f"{len(lines)} of {len(lines)} untrusted texts were left out; a larger max_bytes shows more"
    }
    empty = len(writer.whole(page, {}, (), more_at_most).encode()) + _FENCE_BYTES
    room = int((max_bytes - empty) * (_OWN_SHARE if lines else 1))
    if writer.size(report) > room:
        report = shrink(page.report, room, writer.size)
    used = len(writer.whole(page, report, (), more_at_most).encode()) + _FENCE_BYTES
    shown: list[str] = []
    for line in lines:
        written = writer.row(line)
        used += len(written.encode()) + 1
        if used > max_bytes:
            break
        shown.append(written)
    if len(shown) < len(lines):
        left_out = f"{len(lines) - len(shown)} of {len(lines)} untrusted texts were left out"
        more = {"omitted": f"{left_out}; a larger max_bytes shows more"}
    return writer.whole(page, report, shown, more)


_FENCE_BYTES = 40
"""More than what stands around the untrusted texts takes."""


def _fit_error(page: Page, max_bytes: int, writer: Writer) -> str:
    whole = writer.whole(page, {}, (), None)
    if len(whole.encode()) <= max_bytes:
        return whole
    empty = Page(page.title, page.metadata, error={})
    room = max_bytes - len(writer.whole(empty, {}, (), None).encode())
    error = shrink(page.error or {}, room, writer.size)
    return writer.whole(Page(page.title, page.metadata, error=error), {}, (), None)


def tell_more(page: Page, shown: int) -> dict[str, Any] | None:
    """Return what is left out when so many rows are shown; None when nothing is."""
    until = page.skipped + shown
    more: dict[str, Any] = {}
    if until < page.total:
        more = {"shown": shown, "total": page.total}
        if shown and until < page.reachable:
            more["next"] = {"offset": until, "as_of": page.as_of}
        more["omitted"] = page.describe_rest(shown)
    if page.dropped:
        told = f"{show_count(page.dropped, 'field')} of the report; a larger max_bytes shows more"
        more["omitted"] = f"{more['omitted']}; {told}" if "omitted" in more else told
    if page.changed:
        more["changed"] = True
    return more or None


def cut_texts(value: Any, longest: int) -> Any:
    """Return JSON values in which no text is longer; what is left out is counted."""
    match value:
        case str():
            return value if len(value) <= longest else f"{value[:longest]}…(+{len(value) - longest})"
        case Mapping():
            return {name: cut_texts(item, longest) for name, item in value.items()}
        case list() | tuple():
            return [cut_texts(item, longest) for item in value]
        case _:
            return value


def _cut_lists(value: Any, longest: int) -> Any:
    match value:
        case Mapping():
            kept = list(value.items())
            return {name: _cut_lists(item, longest) for name, item in kept}
        case list() | tuple():
            rest = [f"…(+{len(value) - longest})"] if len(value) > longest else []
            return [*(_cut_lists(item, longest) for item in value[:longest]), *rest]
        case _:
            return value


def shrink(value: Any, room: int, size: Callable[[Any], int]) -> Any:
    """Return a value that takes no more room: texts and lists cut ever shorter, at last without its last fields."""
    for text, items in _CUTS:
        cut = cut_texts(_cut_lists(value, items), text)
        if size(cut) <= room:
            return cut
    text, items = _CUTS[-1]
    cut = cut_texts(_cut_lists(value, items), text)
    if not isinstance(cut, Mapping):
        return ""
    kept = dict(cut)
    while kept and size(kept) > room:
        kept.popitem()
    return kept


def compact(value: Any) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class JsonWriter:
    """Compact JSON."""

    def row(self, row: Any) -> str:
        """Return a row as JSON."""
        return compact(row)

    def size(self, value: Any) -> int:
        """Return how many bytes it takes."""
        return len(compact(value).encode())

    def whole(self, page: Page, report: Mapping[str, Any], rows: Sequence[str], more: Mapping[str, Any] | None) -> str:
        """Return the object."""
        parts = [f'"metadata":{compact(page.metadata)}']
        if report:
            parts.append(f'"report":{compact(report)}')
        if page.error is not None:
            parts.append(f'"error":{compact(page.error)}')
        elif page.key or rows:
            parts.append(f'"{page.key or "untrusted"}":[{",".join(rows)}]')
        if more is not None:
            parts.append(f'"more":{compact(more)}')
        parts.append(f'"isError":{compact(page.error is not None)}')
        return "{" + ",".join(parts) + "}"


UNTRUSTED_FENCE = "~~~untrusted"


class MarkdownWriter:
    """Markdown. What is not trusted stands in fences named so, each text as a JSON string: none can end a fence."""

    def row(self, row: Any) -> str:
        """Return a row as an item of a list, or a line of a fence."""
        if isinstance(row, str):
            return compact(row)
        if "resource" in row and "summary" in row:
            return self._finding(row)
        fields = ", ".join(f"{name}: {_inline(item)}" for name, item in row.items() if name != "untrusted")
        return "\n".join((f"- {fields}", *_fence(row.get("untrusted", ()), "  ")))

    def _finding(self, row: Mapping[str, Any]) -> str:
        resource = row["resource"]
        where = "/".join(resource[part] for part in ("namespace", "name") if part in resource)
        head = f"- **{row.get('severity')}** {resource.get('kind', '')} {where} ({row.get('category')}): "
        parts = [f"  {name}: {_inline(row[name])}" for name in ("detail", "suggestion") if name in row]
        return "\n".join((head + _inline(row["summary"]), *parts, *_fence(row.get("untrusted", ()), "  ")))

    def size(self, value: Any) -> int:
        """Return how many bytes a report takes."""
        return len(_fields(value).encode())

    def whole(self, page: Page, report: Mapping[str, Any], rows: Sequence[str], more: Mapping[str, Any] | None) -> str:
        """Return the document."""
        told = ", ".join(f"{name} {_inline(item)}" for name, item in page.metadata.items())
        parts = [f"**{page.title}**: {told}"]
        if report:
            parts.append(_fields(report))
        if page.error is not None:
            parts.append(f"**Error**\n{_fields(page.error)}")
        if page.key == "untrusted" or (rows and not page.key):
            parts.append("\n".join((UNTRUSTED_FENCE, *rows, "~~~")))
        elif rows:
            parts.append("\n".join(rows))
        elif page.key and page.error is None:
            parts.append(f"No {page.key}.")
        if more is not None:
            parts.append(f"**More**\n{_fields(more)}")
        return "\n\n".join(parts) + "\n"


def _fields(value: Mapping[str, Any]) -> str:
    own = [f"- {name}: {_inline(item)}" for name, item in value.items() if name != "untrusted"]
    others = value.get("untrusted", ())
    return "\n".join((*own, *_fence(others if isinstance(others, list | tuple) else [others], "")))


def _inline(item: Any) -> str:
    text = item if isinstance(item, str) else compact(item)
    return " ".join(text.split())


def _fence(lines: Sequence[str], indent: str) -> list[str]:
    if not lines:
        return []
    return [f"{indent}{line}" for line in (UNTRUSTED_FENCE, *map(compact, lines), "~~~")]
