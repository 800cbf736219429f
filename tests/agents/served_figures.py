"""Figures of how agents are served: protocol, gate, a hung engine, what clients leave, what a daemon loads and asks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.agents.schemas import DEFAULT_TOOLSETS, offered_tools
from bcon_exporter.tools.replay import write_snapshot
from tests.agents.figures import Figure, all_of
from tests.agents.recorded import make_host
from tests.deployments.what_if_bench import COUNT, choose, play_on_own_engine
from tests.docker.conftest import make_engine
from tests.docker.test_read_only import ask_everything, find_strange
from tests.outputs.http.asking import BEYOND, users_with_tokens
from tests.outputs.mcp.pipes import ask_of_hung_engine
from tests.outputs.mcp.served import (
    CLIENTS,
    HANGING_UP,
    ask_while_engine_hangs,
    client_of,
    measure_what_clients_leave,
    serving_agents,
)
from tests.outputs.mcp.talking import ERAS, over_stdio, talk, text_of
from tests.outputs.mcp.test_door import TOKEN, post
from tests.outputs.mcp.test_optional_sdk import HIDE_SDK
from tests.test_weight import HEAVY, modules_of_daemon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from mcp import Client

RSS_BYTES = 3e6
HUNG_SECONDS = 6
HUNG_CODES = {"PROBE_TIMEOUT", "PROVIDER_NOT_FOUND"}


def protocol() -> Iterator[Figure]:
    """The SDK's client, of both eras, over pipes about a snapshot and over TCP about a daemon."""
    served = {}
    with tempfile.TemporaryDirectory(prefix="bcon-agents-") as folder, serving_agents() as daemon:
        file = Path(folder) / "host.json"
        write_snapshot(file, make_host(25, 4))
        for mode, era in ERAS.items():
            served[f"stdio {era}"] = _is_served(over_stdio(mode, "--from-snapshot", str(file)), era)
            served[f"HTTP {era}"] = _is_served(client_of(daemon, mode), era)
    yield all_of(f"the SDK's client over {{stdio, HTTP}} x {{{', '.join(ERAS.values())}}}", sum(served.values()), 4)


def _is_served(connection: AbstractAsyncContextManager[Client], era: str) -> bool:
    """Whether a client speaks that era, gets the tools of the core, and findings about a host that is not well."""

    async def ask() -> bool:
        async with connection as client:
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("diagnose_all", {})
            listed = {tool.name for tool in tools} == {tool.name for tool in offered_tools(DEFAULT_TOOLSETS)}
            found = not answer.is_error and bool(json.loads(text_of(answer))["findings"])
            return client.protocol_version == era and listed and found

    return talk(ask)


def gate() -> Iterator[Figure]:
    """Who must not ask is refused, where the same question with the right words is answered."""
    token, known = {"authorization": f"Bearer {TOKEN}"}, users_with_tokens(agent=TOKEN)
    beyond = {"policy": BEYOND, "known": known, "host": "10.0.0.1"}
    refused = {
        "wrong Host 421": post(host="evil.example").status_code == 421 and post().status_code == 200,
        "foreign Origin 403": post({"origin": "https://evil.example"}).status_code == 403
        and post({"origin": "http://localhost:19877"}).status_code == 200,
        "no token 401": post({}, **beyond).status_code == 401 and post(token, **beyond).status_code == 200,
    }
    yield all_of(f"refused: {', '.join(refused)}", sum(refused.values()), 3)


def hung_engine() -> Iterator[Figure]:
    """An error in time, by pipes and from the daemon."""
    for told, ask in (("stdio", ask_of_hung_engine), ("HTTP", ask_while_engine_hangs)):
        with tempfile.TemporaryDirectory(prefix="bcon-agents-") as folder:
            errors = ask(Path(folder))
        slowest = max(seconds for _, seconds in errors)
        codes = {code for code, _ in errors}
        yield Figure(
            f"engine hung, an error of diagnose_all over {told}",
            f"{slowest:.1f} s, {', '.join(sorted(codes))}",
            f"<= {HUNG_SECONDS} s",
            slowest > HUNG_SECONDS or not codes <= HUNG_CODES,
        )


def clients() -> Iterator[Figure]:
    """What is left of many clients in the daemon."""
    with serving_agents() as daemon:
        left = measure_what_clients_leave(daemon)
    told = f"{CLIENTS} clients one after the other, {HANGING_UP} more hung up"
    yield Figure(
        f"{told}: RSS", f"{left.rss_bytes / 1e6:+.2f} MB", f"< {RSS_BYTES / 1e6:g} MB", left.rss_bytes >= RSS_BYTES
    )
    yield Figure(
        f"{told}: threads, files", f"{left.threads:+}, {left.files:+}", "+0, +0", left.threads > 0 or left.files > 0
    )


def weight() -> Iterator[Figure]:
    """What a daemon that serves no agents loads, with the extra installed and without it."""
    with_extra, without = modules_of_daemon(), modules_of_daemon(HIDE_SDK)
    differing = with_extra ^ without
    yield Figure(
        "modules that a daemon without agents loads with the extra / without it",
        f"{len(with_extra)} / {len(without)}, {len(differing)} differ",
        "0 differ",
        bool(differing),
    )
    heavy = sorted(with_extra & set(HEAVY))
    yield Figure("of the SDK and others that it never uses", ", ".join(heavy) or "0", "0", bool(heavy))


def what_if() -> Iterator[Figure]:
    """Edits that are told as `up` then does them; needs an engine."""
    outcomes = play_on_own_engine(choose(COUNT))
    yield all_of("what-if equal to `up`", sum(not one.misses for one in outcomes), COUNT)


def requests() -> Iterator[Figure]:
    """What a real engine hears from every tool, route and command; needs an engine."""
    engine = make_engine()
    try:
        with tempfile.TemporaryDirectory(prefix="bcon-agents-") as folder:
            heard = ask_everything(engine, Path(folder))
    finally:
        engine.destroy()
    strange = len(find_strange(heard.requests))
    yield Figure(
        "requests to the engine other than GET and HEAD, and events of its log",
        f"{strange} of {len(heard.requests):,}, {len(heard.events)}",
        "0, 0",
        bool(strange or heard.events or not heard.requests),
    )
