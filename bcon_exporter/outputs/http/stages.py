"""How far each address may be built upon, and what an answer of one that will go says (RFC 9745)."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from bcon_exporter.outputs.http.access_control import MCP_PATH
from bcon_exporter.outputs.http.replies import Scope, Send
from bcon_exporter.stages import EXPERIMENTAL, STABLE, Stage
from bcon_exporter.tools import TOOLS

Stages = Mapping[str, Stage]
"""By method and path, as docs/api.md writes them."""

_ADDRESSES: Stages = {
    f"POST {MCP_PATH}": EXPERIMENTAL,
    "GET /api/v1/digest": EXPERIMENTAL,
    "GET /api/v1/memory": EXPERIMENTAL,
    "GET /tail/{container}": EXPERIMENTAL,
    "GET /docs/": EXPERIMENTAL,
    "GET /docs/{name}": EXPERIMENTAL,
    "GET /docs/runbooks/{alert}": EXPERIMENTAL,
}
_TOOLS: Stages = {f"POST /api/v1/tools/{tool.name}": tool.stage for tool in TOOLS if tool.stage != STABLE}
STAGES: Stages = {**_ADDRESSES, **_TOOLS}
"""Of all addresses that are not stable."""
_WHERE_TO_READ = "docs/stability"


def find_deprecated(stages: Stages) -> Stages:
    """Return the deprecated ones."""
    return {address: stage for address, stage in stages.items() if stage.notice}


def announce(deprecated: Stages, scope: Scope, send: Send) -> Send:
    """Return a `send` that adds `Deprecation`, and where to read on, to the answer of a deprecated address."""
    headers = list(_headers(deprecated, scope["method"], scope["path"]))
    if not headers:
        return send

    async def send_with(message: Scope) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *headers]}
        await send(message)

    return send_with


def _headers(deprecated: Stages, method: str, path: str) -> Iterator[tuple[bytes, bytes]]:
    for address, stage in deprecated.items():
        if _fits(address, method, path):
            seconds = int(datetime.fromisoformat(stage.on).replace(tzinfo=UTC).timestamp())
            link = "../" * path.count("/", 1) + _WHERE_TO_READ
            yield b"deprecation", f"@{seconds}".encode()
            yield b"link", f'<{link}>; rel="deprecation"; type="text/html"'.encode()
            return


def _fits(address: str, method: str, path: str) -> bool:
    """Return whether a request is one to an address; what stands in braces there is any text without a slash."""
    wanted, _, template = address.partition(" ")
    parts, given = template.split("/"), path.split("/")
    if wanted != method or len(parts) != len(given):
        return False
    return all(part == text or (part.startswith("{") and text) for part, text in zip(parts, given, strict=True))


def mark_operations(paths: Mapping[str, Mapping[str, dict[str, object]]], stages: Stages) -> None:
    """Write the stage into each operation of an OpenAPI document's paths."""
    for path, operations in paths.items():
        for method, operation in operations.items():
            if "responses" not in operation:
                continue
            stage = stages.get(f"{method.upper()} {path}", STABLE)
            operation["x-stage"] = stage.word
            if stage.notice:
                operation |= {"deprecated": True, "description": stage.notice}
