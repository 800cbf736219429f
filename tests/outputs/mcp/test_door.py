"""Agents pass the same gate as everybody, by POST alone; who hangs up takes nothing with them and holds no place."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any, get_args

import pytest

from bcon_exporter.outputs.http.request_body import BODY_MAX_BYTES, ClientGoneError
from bcon_exporter.outputs.mcp import McpApp
from bcon_exporter.tools import TOOLS, Toolset
from tests.factories import container, snapshot
from tests.outputs.http.asking import BEYOND, ask, error_of, site_of, users, users_with_tokens
from tests.outputs.mcp.talking import over_http, site_for_agents, talk, text_of
from tests.outputs.scenes import make_context
from tests.table_rows import table
from tests.tools.hosts import ScriptedHost, context_of

if TYPE_CHECKING:
    import httpx

    from bcon_exporter.outputs.http import Users

TOKEN = "k" * 43
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
LIST = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
LIST_HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
TYPES = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def post(headers: dict[str, str] | None = None, **options: Any) -> httpx.Response:
    """Say hello as an agent."""
    options = {"json": HELLO, **options}
    return ask(site_of(), "POST", "/mcp", headers={**TYPES, **(headers or {})}, **options)


def test_both_eras_are_answered_in_json_and_no_session_is_begun() -> None:
    hello, listed = post(), post(LIST_HEADERS, json=LIST)

    for answer in (hello, listed):
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert "mcp-session-id" not in answer.headers
    assert hello.json()["result"]["protocolVersion"] == "2025-11-25"
    assert len(listed.json()["result"]["tools"]) == 12


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_anything_but_post_is_405(method: str) -> None:
    answer = ask(site_of(), method, "/mcp", headers=TYPES)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_listener_that_is_not_the_apis_serves_no_agents() -> None:
    site = site_of()

    assert ask(site.without_agents(), "POST", "/mcp", headers=TYPES, json=HELLO).status_code == 404
    assert ask(site.without_agents(), "GET", "/metrics").status_code == 200
    assert ask(site, "POST", "/mcp", headers=TYPES, json=HELLO).status_code == 200


def test_another_host_name_and_another_origin_are_refused() -> None:
    assert post(host="evil.example").status_code == 421
    assert post({"origin": "https://evil.example"}).status_code == 403
    assert post({"origin": "http://localhost:19877"}).status_code == 200


@pytest.mark.parametrize(
    ("known", "authorization", "status"),
    [
        (users_with_tokens(agent=TOKEN), None, 401),
        (users_with_tokens(agent=TOKEN), "Bearer wrong", 401),
        (users_with_tokens(agent=TOKEN), f"Bearer {TOKEN}", 200),
        (users(me="pw"), f"Bearer {TOKEN}", 401),
        (users(me="pw"), "Basic bWU6cHc=", 200),
        (users(me="pw"), "Basic bWU6cGg=", 401),
    ],
)
def test_beyond_loopback_a_token_or_a_password_opens(known: Users, authorization: str | None, status: int) -> None:
    headers = {} if authorization is None else {"authorization": authorization}

    assert post(headers, policy=BEYOND, known=known, host="10.0.0.1").status_code == status


def test_a_client_with_a_token_is_served() -> None:
    async def ask_health() -> str:
        site, known = site_for_agents(make_context(snapshot(container()))), users_with_tokens(agent=TOKEN)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with over_http(site, known=known, headers=headers) as client:
            return text_of(await client.call_tool("diagnose_all", {}))

    assert json.loads(talk(ask_health))["isError"] is False


def test_a_large_body_is_refused_before_it_is_parsed() -> None:
    answer = post(json=None, content=b"x" * (BODY_MAX_BYTES + 1))

    assert answer.status_code == 413
    assert error_of(answer)["code"] == "invalid_input"


@table("body", [b"", b"{}", b"[]", b"null", b"[" * 5000, b"\xff", b'{"jsonrpc":"2.0","id":1}'])
@table("headers", [{}, LIST_HEADERS])
def test_nonsense_is_the_clients_fault(body: bytes, headers: dict[str, str]) -> None:
    answer = post(headers, json=None, content=body)

    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


def test_toolsets_offer_more_and_what_is_not_offered_is_refused() -> None:
    context = make_context(snapshot(container()))

    async def ask_history(*toolsets: str) -> tuple[set[str], bool]:
        async with over_http(site_for_agents(context, *toolsets)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names, bool((await client.call_tool("list_incidents", {})).is_error)

    core, refused = talk(ask_history)
    both, refused_then = talk(lambda: ask_history("core", "ops"))

    assert "list_incidents" not in core
    assert refused
    assert core < both
    assert not refused_then


def test_what_a_tool_does_is_what_its_hints_say() -> None:
    toolsets = get_args(Toolset)

    async def list_all() -> dict[str, bool | None]:
        async with over_http(site_for_agents(make_context(snapshot(container())), *toolsets)) as client:
            tools = (await client.list_tools()).tools
            return {tool.name: tool.annotations.read_only_hint for tool in tools if tool.annotations is not None}

    assert talk(list_all) == {tool.name: tool.effect == "read" for tool in TOOLS}


def test_an_agent_that_hangs_up_is_let_go_at_once_and_the_run_ends_by_itself() -> None:
    release, begun = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert release.wait(30)

    context = context_of(host=ScriptedHost(snapshot(container()), wait))
    call = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {**LIST["params"], "name": "diagnose_all", "arguments": {}},  # type: ignore[dict-item]
    }
    headers = {**TYPES, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "diagnose_all"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def hang_up() -> None:
        app = McpApp(lambda: context, ("core",))
        messages = [{"type": "http.request", "body": json.dumps(call).encode(), "more_body": False}]
        sent: list[object] = []

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await asyncio.to_thread(begun.wait, 30)
            return {"type": "http.disconnect"}

        async def send(message: object) -> None:
            sent.append(message)

        with pytest.raises(ClientGoneError):
            await app(scope, receive, send)
        assert sent == []
        assert begun.is_set()
        release.set()

    asyncio.run(asyncio.wait_for(hang_up(), 60))
