"""What templates do with a value: `{{ when | ago }}`. Times are those of the page's host, which its context holds."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from math import ceil
from typing import Any
from urllib.parse import quote

from jinja2 import pass_context

from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.incidents import show_clock
from bcon_exporter.model.growth import show_growth
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.quantities import show_count, show_duration, show_percent, show_size, show_stamp
from bcon_exporter.model.repetitions import fold_loops


@pass_context
def _ago(context: Any, when: datetime) -> str:
    return show_duration((context["host"].now - when).total_seconds())


@pass_context
def _clock(context: Any, when: datetime) -> str:
    return show_clock(when, context["host"].to_local, context["host"].now)


@pass_context
def _stamp(context: Any, when: datetime) -> str:
    return show_stamp(context["host"].to_local(when))


@pass_context
def _hour(context: Any, when: datetime) -> str:
    return f"{context['host'].to_local(when):%H:%M:%S}"


@pass_context
def _groupby_day(context: Any, entries: Sequence[JournalEntry]) -> list[tuple[str, list[JournalEntry]]]:
    to_local = context["host"].to_local
    return [
        (f"{date:%A, %d %B %Y}", list(of_day))
        for date, of_day in groupby(fold_loops(entries), key=lambda entry: to_local(entry.at).date())
    ]


def _tenths(ratio: float | None) -> str:
    """Return the class of a cell that shows a share as a bar, which no style of its own may draw."""
    return "" if ratio is None else f"u{min(10, max(0, ceil(10 * ratio)))}"


FILTERS: Mapping[str, Callable[..., object]] = {
    "ago": _ago,
    "clock": _clock,
    "stamp": _stamp,
    "hour": _hour,
    "groupby_day": _groupby_day,
    "count": show_count,
    "duration": show_duration,
    "growth": show_growth,
    "percent": show_percent,
    "size": show_size,
    "tenths": _tenths,
    "exit_code": explain_exit,
    "short_id": lambda image_id: image_id.removeprefix("sha256:")[:12],
    "segment": lambda name: quote(name, safe=""),
    "words": lambda code: str(code).replace("_", " "),
}
