"""An agent's conversation about six broken hosts, played by a script with the SDK's own client.

    python -m tests.agents.conversation record     # reads the recorded hosts and writes conversation/*.json.gz anew
    python -m tests.agents.conversation            # plays all and writes docs/development/agents-conversation.md

The script knows what every agent is told: begin with diagnose_all, then diagnose_container in detail. It knows no host.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.app import build_context, build_replay
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.settings import load_settings
from bcon_exporter.tools.host_views import take_full_snapshot
from tests.golden.engine import RecordedEngine
from tests.golden.recording import read_host
from tests.outputs.mcp.talking import over_http, site_for_agents, text_of

if TYPE_CHECKING:
    from mcp import Client

HERE = Path(__file__).parent / "conversation"
PAGE = Path(__file__).parents[2] / "docs" / "development" / "agents-conversation.md"
CALLS_MAX, BYTES_MAX = 5, 20_000


@dataclass(frozen=True)
class Broken:
    """A recorded host at a moment when something was wrong, and what was done to it.

    Attributes:
        moment: Which of the recording's.
        story: What the person saw who calls.
        root: The container that the trouble comes from.
        holds: Words of the true cause.
    """

    host: str
    moment: int
    story: str
    root: str
    holds: str


HOSTS = (
    Broken("cascade-media-db-tmpfs-full", 4, "The player shows nothing.", "media-db-tmpfs-full-db-1", "tmpfs at /data"),
    Broken("cascade-seed-vpn-crashed", 5, "Downloads have stopped.", "seed-vpn-crashed-vpn-1", "credentials"),
    Broken("cascade-shop-db-killed", 5, "The shop answers with errors.", "shop-db-killed-db-1", "SIGKILL"),
    Broken(
        "cascade-forum-pooler-db", 6, "The forum was down a moment ago.", "forum-pooler-db-db-1", "was started only"
    ),
    Broken("shop-crashing", 3, "A job has not come back.", "failed", "exited with code 3"),
    Broken("day-one", 3, "Something is wrong on this host.", "act-runner", "restarted it 10 times"),
)


def record() -> None:
    """Read each host at its moment as a command does, and write what was seen."""
    HERE.mkdir(exist_ok=True)
    for broken in HOSTS:
        host = read_host(broken.host)
        moment = host.moments[broken.moment]
        now = datetime.fromtimestamp(moment.at_nanoseconds / 1e9, UTC)
        with (
            tempfile.TemporaryDirectory(prefix="bcon-agents-") as folder,
            RecordedEngine(host, Path(folder) / "docker.sock") as engine,
        ):
            engine.show(moment)
            settings = load_settings({"docker": {"host": engine.host}, "state": {"path": "none"}}, {"PATH": "/nowhere"})
            context = replace(build_context(settings, one_shot=True), now=lambda at=now: at)  # type: ignore[misc]
            try:
                seen = take_full_snapshot(context)
            finally:
                context.memory.close()
                context.host.close()
        if seen.unread.get("logs") or any("logs" in one.unread for one in seen.containers if one.is_running):
            sys.exit("the stand-in of the engine was too slow; write it once more")
        text = json.dumps(seen.model_dump(mode="json"), separators=(",", ":"))
        (HERE / f"{broken.host}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def read_snapshot_of(broken: Broken) -> HostSnapshot:
    """What was recorded of a host."""
    return HostSnapshot.model_validate_json(gzip.decompress((HERE / f"{broken.host}.json.gz").read_bytes()))


@dataclass
class Conversation:
    """What was asked and answered, and what came of it."""

    broken: Broken
    calls: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    root: str = ""
    cause: str = ""
    first_step: str = ""
    hand_over: str = ""

    @property
    def bytes_read(self) -> int:
        """Bytes of all answers."""
        return sum(len(answer.encode()) for _, _, answer in self.calls)


def converse(broken: Broken) -> Conversation:
    """Play the conversation about one host."""
    return asyncio.run(asyncio.wait_for(_talk(broken), 60))


async def _talk(broken: Broken) -> Conversation:
    said = Conversation(broken)
    context = build_replay(load_settings({"state": {"path": "none"}}, {}), read_snapshot_of(broken))
    async with over_http(site_for_agents(context)) as client:
        host = await _call(client, said, "diagnose_all")
        worst = host["findings"][0]
        said.root = _suspect(host, worst["resource"]["name"])
        findings = (await _call(client, said, "diagnose_container", container_id=said.root, detail=True))["findings"]
        if not findings:  # it is well again: who suffers from it tells what it did
            name = _witness(host, said.root)
            findings = (await _call(client, said, "diagnose_container", container_id=name, detail=True))["findings"]
    said.cause = " ".join(finding["summary"] for finding in findings[:2])
    said.first_step = next(finding["suggestion"] for finding in findings if "suggestion" in finding)
    said.hand_over = _hand_over(said, host, findings)
    return said


async def _call(client: Client, said: Conversation, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    text = text_of(answer)
    said.calls.append((tool, arguments, text))
    assert not answer.is_error, text
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def _suspect(host: dict[str, Any], worst: str) -> str:
    """Return the container whose trouble explains the worst finding; the ailing one itself where none does."""
    for root in host["report"].get("roots", ()):
        if worst in root["explains"]:
            return str(root["container_name"])
    return worst


def _witness(host: dict[str, Any], root: str) -> str:
    """Return who met the trouble of a root at first hand, or the worst."""
    names = [one["resource"]["name"] for one in host["findings"] if f"{root}, which it connects to" in one["summary"]]
    return str([*names, host["findings"][0]["resource"]["name"]][0])


def _hand_over(said: Conversation, host: dict[str, Any], findings: list[dict[str, Any]]) -> str:
    """Return what a person needs who takes over: our words apart from those of containers."""
    roots = {root["container_name"]: root["explains"] for root in host["report"].get("roots", ())}
    ailing = host["report"]["total_containers"] - host["report"].get("healthy", 0)
    lines = [
        f"{said.broken.story} {ailing} of {host['report']['total_containers']} containers are not well.",
        f"Root: {said.root}. {said.cause}",
        *([f"Suffers from it: {', '.join(roots[said.root])}."] if said.root in roots else []),
        f"First step, for a person: {said.first_step}",
        "Written by containers, to be read and not obeyed:",
        *(f"  > {text}" for text in [line for one in findings for line in one.get("untrusted", ())][:3]),
    ]
    return "\n".join(lines)


def render_page() -> str:
    """Return the document of all conversations."""
    parts = [PREFACE]
    for broken in HOSTS:
        said = converse(broken)
        parts.append(f"## {broken.host}\n\n> {broken.story}\n")
        parts += [_render_call(*call) for call in said.calls]
        size = f"{len(said.calls)} calls, {said.bytes_read:,} bytes"
        parts.append(f"The agent hands over ({size}):\n\n```text\n{said.hand_over}\n```\n")
    return "\n".join(parts)


def _render_call(tool: str, arguments: dict[str, Any], answer: str) -> str:
    shown = answer if len(answer) <= SHOWN else f"{answer[:SHOWN]} … ({len(answer.encode()):,} bytes)"
    return f"`{tool}` {json.dumps(arguments)}\n\n```json\n{shown}\n```\n"


SHOWN = 1500
PREFACE = """# Conversations of an agent

Written by `make agents-conversation`: a script asks with the SDK's own client, over MCP, about six recorded hosts that
were broken on purpose. It begins with `diagnose_all`, looks at the container that explains the worst finding, and hands
over to a person: the root, the cause, who suffers, the first step. It may take five calls and read 20 kB. Long answers
are cut here, not there. What it reads: [agents](../agents.md).
"""


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    else:
        PAGE.write_text(render_page())
