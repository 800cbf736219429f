"""An agent of the SDK's own client: over HTTP without a network, or over the pipes of a process."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CallToolResult,
    Completion,
    GetPromptResult,
    PromptReference,
    ReadResourceResult,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
    Tool,
)

from bcon_exporter.outputs.http import ListenerPolicy, Site, Users, make_site
from bcon_exporter.outputs.mcp import McpApp
from tests.outputs.http.asking import LOOPBACK
from tests.outputs.scenes import make_exposition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp.client.session import ElicitationFnT

    from bcon_exporter.tools import Context

Mode = Literal["auto", "legacy"]
ERAS: dict[Mode, str] = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""Mode of the client → the protocol that it then speaks with us."""
URL = "http://localhost:19877/mcp"
T = TypeVar("T")

DIAGNOSE_ALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "diagnose_all",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
"""What a client posts that calls a tool without a handshake."""


def site_for_agents(context: Context, *toolsets: str, structured: bool = False) -> Site:
    """A site that serves agents the core, or some toolsets."""
    app = McpApp(lambda: context, toolsets or ("core",), structured=structured)
    return make_site(lambda: context, make_exposition(context), lambda: None, app)


@asynccontextmanager
async def over_http(
    site: Site,
    mode: Mode = "auto",
    *,
    policy: ListenerPolicy = LOOPBACK,
    known: Users | None = None,
    headers: dict[str, str] | None = None,
    on_question: ElicitationFnT | None = None,
) -> AsyncIterator[Client]:
    """A client of a site behind its gate; it can put questions to a person where it is told how."""
    transport = httpx2.ASGITransport(app=site.behind(lambda: policy, lambda: known))
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode, elicitation_callback=on_question) as client,
    ):
        yield client


def process_parameters(*words: str) -> StdioServerParameters:
    """How a client starts `bcon-exporter mcp`."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("BCON_")}
    return StdioServerParameters(command=sys.executable, args=["-m", "bcon_exporter", "mcp", *words], env=environ)


@asynccontextmanager
async def over_stdio(mode: Mode, *words: str, on_question: ElicitationFnT | None = None) -> AsyncIterator[Client]:
    """A client of a process."""
    async with Client(process_parameters(*words), mode=mode, elicitation_callback=on_question) as client:
        yield client


def talk(work: Callable[[], Awaitable[T]]) -> T:
    """Run a conversation, within a minute."""

    async def bounded() -> T:
        async with asyncio.timeout(60):
            return await work()

    return asyncio.run(bounded())


@dataclass
class Transcript:
    """What a client was answered; errors of the protocol stand in place of the answer."""

    protocol: str = ""
    instructions: str = ""
    tools: list[Tool] = field(default_factory=list)
    calls: dict[str, CallToolResult] = field(default_factory=dict)
    resources: dict[str, ReadResourceResult | MCPError] = field(default_factory=dict)
    prompts: dict[str, GetPromptResult | MCPError] = field(default_factory=dict)
    completions: dict[str, Completion] = field(default_factory=dict)

    def said(self, call: str) -> str:
        """The text of a call's answer."""
        return text_of(self.calls[call])

    def read(self, uri: str) -> str:
        """The text of a resource."""
        answer = self.resources[uri]
        assert not isinstance(answer, MCPError), answer
        (contents,) = answer.contents
        assert isinstance(contents, TextResourceContents)
        return contents.text

    def asked(self, prompt: str) -> str:
        """The text of a prompt."""
        answer = self.prompts[prompt]
        assert not isinstance(answer, MCPError), answer
        (message,) = answer.messages
        assert isinstance(message.content, TextContent)
        return message.content.text


def text_of(answer: CallToolResult) -> str:
    """The text of an answer, which is one text and nothing else."""
    assert answer.structured_content is None
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


async def ask_everything(client: Client, container: str, project: str, incident: str) -> Transcript:
    """List, call and read all there is."""
    found = Transcript(protocol=client.protocol_version, instructions=client.instructions or "")
    found.tools = list((await client.list_tools()).tools)
    for tool in found.tools:
        found.calls[tool.name] = await client.call_tool(tool.name, _arguments(tool.name, container, incident))
    found.calls["unknown"] = await client.call_tool("diagnose_al", {})
    found.calls["bad"] = await client.call_tool("diagnose_container", {"container": container})
    found.calls["no file"] = await client.call_tool("detect_drift", {"compose_file": "/nowhere/compose.yaml"})
    found.calls["bad view"] = await client.call_tool("diagnose_all", {"max_bytes": 5})
    names = {"{name}": container, "{id}": incident}
    listed = [str(one.uri) for one in (await client.list_resources()).resources]
    for template in (await client.list_resource_templates()).resource_templates:
        uri = template.uri_template
        here = {**names, **({"{name}": project} if "projects" in uri else {})}
        here |= {"{id}": "BconContainerOomKilled"} if "runbooks" in uri else {}
        for variable, name in here.items():
            uri = uri.replace(variable, name)
        listed.append(uri)
        variable = template.uri_template.rpartition("{")[2][:-1]
        found.completions[template.name] = await _complete(
            client, ResourceTemplateReference(uri=template.uri_template), variable
        )
    for uri in [*listed, "bcon://containers/nobody", "bcon://runbooks/nothing", "bcon://nothing", "file:///etc/passwd"]:
        found.resources[uri] = await _or_error(client.read_resource(uri))
    for prompt in (await client.list_prompts()).prompts:
        words = {"container": container, "project": project, "incident": incident}
        arguments = {one.name: words[one.name] for one in prompt.arguments or ()}
        found.prompts[prompt.name] = await _or_error(client.get_prompt(prompt.name, arguments))
        for one in prompt.arguments or ():
            found.completions[prompt.name] = await _complete(client, PromptReference(name=prompt.name), one.name)
            found.prompts[f"{prompt.name} of nothing"] = await _or_error(client.get_prompt(prompt.name, {}))
    found.prompts["no such prompt"] = await _or_error(client.get_prompt("no such prompt"))
    return found


def _arguments(tool: str, container: str, incident: str) -> dict[str, Any]:
    match tool:
        case "get_container_info" | "get_container_stats" | "get_container_logs" | "diagnose_container":
            return {"container_id": container}
        case "explain_error":
            return {"container_id": container, "error_pattern": "refused"}
        case "detect_drift":
            return {"compose_file": "/srv/shop/compose.yaml"}
        case "get_incident":
            return {"incident_id": incident}
        case "query_memory":
            return {"query": "killed by the kernel, out of memory"}
        case _:
            return {}


async def _complete(client: Client, ref: Any, name: str) -> Completion:
    return (await client.complete(ref, {"name": name, "value": ""})).completion


async def _or_error(work: Awaitable[T]) -> T | MCPError:
    try:
        return await work
    except MCPError as error:
        return error
