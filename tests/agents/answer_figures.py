"""Figures of what agents read: lists of tools, default answers, pages, words of others, conversations."""

from __future__ import annotations

import json
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from bcon_exporter.agents.schemas import DEFAULT_TOOLSETS, TOOLSETS, describe_tools
from bcon_exporter.engine import Wants
from bcon_exporter.tools import TOOLS, call_tool
from tests.agents.asking import OPTIONS, ask_agent, list_calls, outside_of_untrusted, tells
from tests.agents.asking_amiss import ask_amiss
from tests.agents.conversation import BYTES_MAX, CALLS_MAX, HOSTS, converse
from tests.agents.figures import Figure, all_of, at_most
from tests.agents.hostile import PLACES, make_hostile_host
from tests.agents.recorded import make_context, make_host, read_recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.tools import Context

DEFAULT_BYTES = 8192
CORE_TOOLS, CORE_BYTES, ALL_BYTES = 12, 6300, 15_000
INSPECT_SHARE = 15
PLACES_MIN = 14
SIZES = {25: 4, 250: 40}
"""Containers of a host, and how many of them are ailing."""
ASKED_ABOUT = 5
"""Containers that the tools for one are asked about: those with the longest logs, of all and of the ailing ones."""


@cache
def context_of(containers: int) -> Context:
    """A context over a host of that size."""
    return make_context(make_host(containers, SIZES[containers]))


def tool_lists() -> Iterator[Figure]:
    """The lists of tools as agents' clients get them."""
    core, whole = (describe_tools("mcp", toolsets) for toolsets in (DEFAULT_TOOLSETS, TOOLSETS))
    size = _size_of(core)
    yield Figure(
        "list of core tools",
        f"{size:,} bytes, {len(core)} tools",
        f"<= {CORE_BYTES:,} bytes, {CORE_TOOLS} tools",
        size > CORE_BYTES or len(core) != CORE_TOOLS,
    )
    yield at_most(f"list of all toolsets' {len(whole)} tools", _size_of(whole), ALL_BYTES, " bytes")


def _size_of(tools: list[dict[str, Any]]) -> int:
    return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode())


def default_answers() -> Iterator[Figure]:
    """The largest default answer of every tool."""
    least, most = (_largest_answers(context_of(containers)) for containers in SIZES)
    for tool in TOOLS:
        worst = max(least[tool.name], most[tool.name])
        told = f"{least[tool.name]:,} / {most[tool.name]:,} bytes"
        yield Figure(f"{tool.name}, 25 / 250 containers", told, f"<= {DEFAULT_BYTES:,}", worst > DEFAULT_BYTES)


def _largest_answers(context: Context) -> dict[str, int]:
    """Tool → bytes of its largest default answer."""
    report = call_tool(context, "diagnose_all", {}).value
    ailing = {one.container_name for one in report.summaries}
    containers = context.host.observe(context.now(), 15.0, Wants()).snapshot.containers
    found = sorted(containers, key=lambda one: -len(one.logs.lines if one.logs is not None else ()))
    names = [one.name for one in found[:ASKED_ABOUT]] + [one.name for one in found if one.name in ailing][:ASKED_ABOUT]
    sizes = dict.fromkeys((tool.name for tool in TOOLS), 0)
    for name, payload in list_calls(context, names):
        sizes[name] = max(sizes[name], len(ask_agent(context, name, payload).body.encode()))
    return sizes


def pages() -> Iterator[Figure]:
    """On how many pages all ailing containers are named, and what that costs beside inspect."""
    context = context_of(250)
    wanted = {one.container_name for one in call_tool(context, "diagnose_all", {}).value.summaries}
    for told, payload, bar in (
        ("pages of 10", {}, 4),
        ("pages of 8,192 bytes", {"limit": 100}, 3),
        ("pages of 16,384 bytes", {"limit": 100, "max_bytes": 16384}, 1),
    ):
        named, count = _read_pages(context, payload)
        missing = len(wanted - named)
        yield Figure(
            f"{told} that name all {len(wanted)} ailing of 250",
            f"{count}, {missing} missing",
            f"<= {bar}, 0 missing",
            count > bar or bool(missing),
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
    count, asked = 0, payload
    while True:
        page = json.loads(ask_agent(context, "diagnose_all", asked).body)
        named |= {finding["resource"]["name"] for finding in page["findings"]}
        count += 1
        if "next" not in page.get("more", {}):
            return named, count
        asked = {**payload, **page["more"]["next"]}


def words_of_others() -> Iterator[Figure]:
    """How many calls, about a host that says a hostile sentence in all places, tell it outside of `untrusted`."""
    facts = make_hostile_host()
    context = make_context(facts)
    leaks, asked, quoted = 0, 0, 0
    bodies = (
        ask_agent(context, name, {"limit": 100, "max_bytes": 65536, **options, **payload}).body
        for name, payload in list_calls(context, list(PLACES))
        for options in OPTIONS
    )
    for body in chain(bodies, (body for _, body in ask_amiss(context, facts))):
        asked += 1
        quoted += tells(body)
        leaks += tells(outside_of_untrusted(body))
    yield Figure(
        f"answers with a hostile sentence outside of untrusted, {len(PLACES)} places, JSON and Markdown",
        f"{leaks} of {asked:,} ({quoted:,} quote it)",
        f"0, of {PLACES_MIN} places or more",
        bool(leaks) or len(PLACES) < PLACES_MIN or not quoted,
    )


def conversations() -> Iterator[Figure]:
    """What an agent needs from "something is wrong" to the hand-over."""
    said = [converse(broken) for broken in HOSTS]
    right = [one.root == one.broken.root and one.broken.holds in one.cause and bool(one.first_step) for one in said]
    yield all_of("conversations that come to the true root, cause and a first step", sum(right), len(HOSTS))
    yield at_most(f"calls of the longest of {len(said)} conversations", max(len(one.calls) for one in said), CALLS_MAX)
    yield at_most("what the largest of them reads", max(one.bytes_read for one in said), BYTES_MAX, " bytes")
