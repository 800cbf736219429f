"""docs/reliability.md: the table of promises with what was measured when it was written last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.promises.table import FAULTS, PROMISES, SECURITY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.promises.plugin import Shown
    from tests.promises.table import Promise

INTRODUCTION = """\
# What bcon-exporter promises under faults and attack

Every row is shown by tests that make the fault for real: on a private Docker Engine, with real sockets, disks, signals and
clocks. `make chaos` runs all of them and writes this table; F16 alone takes two hours of it. `make chaos ROWS=F1,S4` runs those of
some rows, and with `SHORT=1` in the short forms that `make test-all` runs too. What stands under "measured" is what they measured
last, on one machine of two cores, beside how many of them passed; a promise is about the bound, not about that figure.

What an attacker is, and whom we trust with what: [SECURITY.md](../SECURITY.md).
"""
NOT_RUN = "not run yet"


def render_document(measured: Mapping[str, str]) -> str:
    """Return the document; `measured` by row."""
    parts = [INTRODUCTION]
    for title, first, promises in (("Faults", "what happens", FAULTS), ("Security", "about", SECURITY)):
        parts.append(f"## {title}\n\n| # | {first} | what holds | measured | command |\n|---|---|---|---|---|\n")
        parts += [_row(promise, measured.get(promise.id, NOT_RUN)) for promise in promises]
        parts.append("\n")
    return "".join(f"{part}\n" if part is INTRODUCTION else part for part in parts).rstrip("\n") + "\n"


def _row(promise: Promise, measured: str) -> str:
    cells = (promise.id, promise.case, promise.holds, measured.replace("|", "\\|"), f"`make chaos ROWS={promise.id}`")
    return f"| {' | '.join(cells)} |\n"


def read_measured(document: str) -> dict[str, str]:
    """Return what a document says was measured, by row."""
    rows = re.findall(r"^\| ([A-Z]+-?[0-9]+) \| (.*) \| `make chaos ROWS=\1` \|$", document, re.MULTILINE)
    return {row: cells.rpartition(" | ")[2].replace("\\|", "|") for row, cells in rows}


def tell_measured(row: str, shown: Sequence[Shown]) -> tuple[str, bool]:
    """Return what the tests of a row measured, in words, and whether they showed it."""
    own = [one for one in shown if row in one.rows]
    failed = [one.test.rpartition("::")[2] for one in own if one.outcome == "failed"]
    passed = sum(one.outcome == "passed" for one in own)
    if failed:
        return f"**failed**: {', '.join(failed)}", False
    if not passed:
        return "no test ran", False
    figures = list(dict.fromkeys(words for one in own for words in one.figures))
    return "; ".join([*figures, f"{passed} test{'s' if passed > 1 else ''}"]), True


def rows_of(text: str) -> tuple[Promise, ...]:
    """Return the promises that `F1,S4` names; all for an empty text."""
    wanted = set(filter(None, text.replace(" ", ",").split(",")))
    if unknown := wanted - {promise.id for promise in PROMISES}:
        message = f"no such row: {', '.join(sorted(unknown))}"
        raise SystemExit(message)
    return tuple(promise for promise in PROMISES if not wanted or promise.id in wanted)
