"""Promise: an agent reads a list to its end as it was when it began, by HTTP and MCP, though the host has changed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.outputs.http import Site, make_site
from bcon_exporter.outputs.mcp import McpApp
from tests.factories import container, snapshot
from tests.outputs.http.asking import ask
from tests.outputs.mcp.talking import over_http, talk, text_of
from tests.outputs.scenes import make_context, make_exposition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bcon_exporter.tools import Context

    Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

LIST = "list_containers"


def site_of_hosts(contexts: list[Context]) -> Site:
    """A site that watches the first of them."""
    app = McpApp(lambda: contexts[0], ("core",), structured=False)
    return make_site(lambda: contexts[0], make_exposition(contexts[0]), lambda: None, app)


async def read_in_pages(call: Ask, contexts: list[Context]) -> list[str]:
    """Names on all pages; the host is another one after the first page."""
    page = await call({"limit": 1})
    names = [row["name"] for row in page["rows"]]
    del contexts[0]
    while "more" in page:
        page = await call({"limit": 1, **page["more"]["next"]})
        names += [row["name"] for row in page["rows"]]
    return names


@pytest.mark.parametrize("face", ["http", "mcp"])
def test_a_list_is_read_to_its_end_as_it_was(face: str) -> None:
    contexts = [make_context(snapshot(*(container(name=name) for name in names))) for names in ("abc", "xy")]
    site = site_of_hosts(contexts)

    async def over_api(arguments: dict[str, Any]) -> dict[str, Any]:
        path = f"/api/v1/tools/{LIST}?view=agent"
        answer: dict[str, Any] = (await asyncio.to_thread(ask, site, "POST", path, json=arguments)).json()
        return answer

    async def read() -> list[str]:
        if face == "http":
            return await read_in_pages(over_api, contexts)
        async with over_http(site) as client:

            async def over_mcp(arguments: dict[str, Any]) -> dict[str, Any]:
                told: dict[str, Any] = json.loads(text_of(await client.call_tool(LIST, arguments)))
                return told

            return await read_in_pages(over_mcp, contexts)

    assert talk(read) == ["a", "b", "c"]
