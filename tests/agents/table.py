"""What an agent pays and may trust: figures of every tool's default answer, each beside its bar.

python -m tests.agents.table        # exits with 1 when a bar is missed
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bcon_exporter.engine import Wants
from bcon_exporter.tools import TOOLS, call_tool
from tests.agents.asking import OPTIONS, ask_agent, list_calls, outside_of_untrusted, tells
from tests.agents.hostile import PLACES, make_hostile_host
from tests.agents.recorded import make_context, make_host, read_recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.tools import Context

DEFAULT_BYTES = 8192
TOOL_LIST_BYTES = 6000
INSPECT_SHARE = 15
SIZES = {25: 4, 250: 40}
"""Containers of a host, and how many of them are ailing."""
ASKED_ABOUT = 5
"""Containers that the tools for one are asked about: those with the longest logs, of all and of the ailing ones."""


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        missed: It is worse than its bar.
    """

    name: str
    value: str
    bar: str
    missed: bool


def at_most(name: str, value: float, bar: float, unit: str = "") -> Figure:
    """A figure that must not be larger than its bar."""
    return Figure(
        name, f"{value:,g}{unit}" if value < 1e6 else f"{value:,.0f}{unit}", f"<= {bar:,g}{unit}", value > bar
    )


def list_figures() -> Iterator[Figure]:
    """Yield all figures."""
    yield from _tool_list()
    small, large = (make_context(make_host(containers, ailing)) for containers, ailing in SIZES.items())
    least, most = _largest_answers(small), _largest_answers(large)
    for tool in TOOLS:
        worst = max(least[tool.name], most[tool.name])
        told = f"{least[tool.name]:,} / {most[tool.name]:,} bytes"
        yield Figure(f"{tool.name}, 25 / 250 containers", told, f"<= {DEFAULT_BYTES:,}", worst > DEFAULT_BYTES)
    yield from _pages(large)
    yield at_most(f"places of {len(PLACES)} whose sentence stands outside of untrusted", _count_places(), 0)


def _tool_list() -> Iterator[Figure]:
    """The list of tools as agents' clients get it."""
    if find_spec("bcon_exporter.agents.schemas") is None:
        return
    describe_tools = import_module("bcon_exporter.agents.schemas").describe_tools
    tools = describe_tools("mcp", ("core",), strict=False)
    size = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())
    yield at_most(f"list of {len(tools)} core tools", size, TOOL_LIST_BYTES, " bytes")


def _largest_answers(context: Context) -> dict[str, int]:
    """Tool → bytes of its largest default answer."""
    report = call_tool(context, "diagnose_all", {}).value
    ailing = {one.container_name for one in report.summaries}
    containers = context.host.take_snapshot(context.now(), 15.0, Wants()).containers
    found = sorted(containers, key=lambda one: -len(one.logs.lines if one.logs is not None else ()))
    names = [one.name for one in found[:ASKED_ABOUT]] + [one.name for one in found if one.name in ailing][:ASKED_ABOUT]
    sizes = dict.fromkeys((tool.name for tool in TOOLS), 0)
    for name, payload in list_calls(context, names):
        sizes[name] = max(sizes[name], len(ask_agent(context, name, payload).body.encode()))
    return sizes


def _pages(context: Context) -> Iterator[Figure]:
    """On how many pages all ailing containers are named, and what that costs beside inspect."""
    wanted = {one.container_name for one in call_tool(context, "diagnose_all", {}).value.summaries}
    for told, payload, bar in (
        ("pages of 10", {}, 4),
        ("pages of 8,192 bytes", {"limit": 100}, 3),
        ("pages of 16,384 bytes", {"limit": 100, "max_bytes": 16384}, 1),
    ):
        named, pages = _read_pages(context, payload)
        missing = len(wanted - named)
        yield Figure(
            f"{told} that name all {len(wanted)} ailing of 250",
            f"{pages}, {missing} missing",
            f"<= {bar}, 0 missing",
            pages > bar or bool(missing),
        )
    whole = ask_agent(context, "diagnose_all", {"limit": 100, "max_bytes": 16384}).body
    _, inspected = read_recorded()
    share = 250 * inspected / len(whole.encode())
    yield Figure(
        "that one page beside 250 full inspects",
        f"1/{share:.0f} of {250 * inspected:,} bytes",
        f"<= 1/{INSPECT_SHARE}",
        share < INSPECT_SHARE,
    )


def _read_pages(context: Context, payload: dict[str, Any]) -> tuple[set[str], int]:
    """The containers that all pages of the host's diagnosis name, and how many pages there are."""
    named: set[str] = set()
    pages, asked = 0, payload
    while True:
        page = json.loads(ask_agent(context, "diagnose_all", asked).body)
        named |= {finding["resource"]["name"] for finding in page["findings"]}
        pages += 1
        if "next" not in page.get("more", {}):
            return named, pages
        asked = {**payload, **page["more"]["next"]}


def _count_places() -> int:
    """How many places' sentence some tool tells outside of `untrusted`, as JSON or as Markdown."""
    context = make_context(make_hostile_host())
    leaks = set()
    for name, payload in list_calls(context, list(PLACES)):
        for options in OPTIONS:
            answer = ask_agent(context, name, {"limit": 100, "max_bytes": 65536, **options, **payload})
            if tells(outside_of_untrusted(answer.body)):
                leaks.add(json.dumps(payload))
    return len(leaks)


def main() -> int:
    """Print the table; return 1 when a bar is missed."""
    figures = list(list_figures())
    widths = [max(len(row[column]) for row in map(_cells, figures)) for column in range(3)]
    for figure in figures:
        name, value, bar = _cells(figure)
        mark = "MISSED" if figure.missed else "ok"
        sys.stdout.write(f"{name:<{widths[0]}}  {value:>{widths[1]}}  {bar:>{widths[2]}}  {mark}\n")
    return int(any(figure.missed for figure in figures))


def _cells(figure: Figure) -> tuple[str, str, str]:
    return figure.name, figure.value, figure.bar


if __name__ == "__main__":
    sys.exit(main())
