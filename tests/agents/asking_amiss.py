"""Asks for what is not there, or is there twice: the refusal, the hint or the completion that comes back names more."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from bcon_exporter.compose import ComposeOptions, ComposeReader
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.latest_scans import LatestScans
from bcon_exporter.secrets.masking import Sealer
from tests.agents.asking import OPTIONS, ask_agent
from tests.agents.hostile import NEAR_PROJECT, NEAR_SERVICE, SENTENCE
from tests.factories import compose, container, snapshot
from tests.outputs.mcp.talking import over_http, site_for_agents, talk
from tests.outputs.scenes import scan_of
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp import Client
    from mcp_types import Completion

    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.tools import Context

_REFERENCES = (
    PromptReference(name="why_restarted"),
    PromptReference(name="compare_with_compose"),
    ResourceTemplateReference(uri="bcon://containers/{name}"),
    ResourceTemplateReference(uri="bcon://projects/{name}"),
)


def ask_amiss(context: Context, facts: HostSnapshot) -> Iterator[tuple[str, str]]:
    """What was asked, and the whole answer; of every way in which a tool tells names that nobody asked it for."""
    scans = LatestScans()
    scans.publish_diagnosis(scan_of(facts))
    calls: tuple[tuple[Context, str, dict[str, Any]], ...] = (
        (context, "restart_service", {"service": NEAR_SERVICE}),
        (replace(context, one_shot=True), "schedule_task", {"task": "watch", "project": NEAR_PROJECT}),
        (replace(context, scans=scans), "write_memory", {"text": "it is known", "about": {"project": NEAR_PROJECT}}),
    )
    for asked, name, payload in calls:
        for options in OPTIONS:
            yield name, ask_agent(asked, name, {**options, **payload}).body
    yield from _edit_a_shared_file()
    yield from talk(lambda: _talk(replace(context, scans=scans)))


def _edit_a_shared_file() -> Iterator[tuple[str, str]]:
    """Ask for an edit of a file that several projects read; one is called by the sentence."""
    with tempfile.TemporaryDirectory(prefix="bcon-agents-") as folder:
        file = Path(folder) / "compose.yaml"
        file.write_text("services:\n  web:\n    image: app:1\n")
        claims: dict[str, Any] = {"config_files": (str(file),), "working_dir": folder, "config_hash": "h"}
        web = [container(name=name[:4], compose=compose("web", name, **claims)) for name in ("shop", SENTENCE)]
        facts = snapshot(*web, networks=(), volumes=())
        options = ComposeOptions(binary=None, environ={"PATH": "/nowhere"}, trusted=True, wait_seconds=60)
        reader = ComposeReader(options, Sealer(b"k" * 32), HostSecrets())
        context = replace(context_of(facts), compose=reader, one_shot=True)
        for view in OPTIONS:
            payload = {"path": str(file), "content": "services: {}", **view}
            yield "modify_config", ask_agent(context, "modify_config", payload).body


async def _talk(context: Context) -> list[tuple[str, str]]:
    async with over_http(site_for_agents(context)) as client:
        told = [("completion", json.dumps((await _complete(client, ref)).values)) for ref in _REFERENCES]
        try:
            await client.read_resource(f"bcon://projects/{NEAR_PROJECT}")
        except MCPError as error:
            told.append(("resource", json.dumps(error.message)))
    return told


async def _complete(client: Client, ref: Any) -> Completion:
    return (await client.complete(ref, {"name": "name", "value": ""})).completion
