"""Streamable HTTP as one request and one JSON answer. Imports the SDK: only `McpApp` imports this, when it is asked."""

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from bcon_exporter.outputs.http.replies import Receive, Scope, Send
from bcon_exporter.outputs.http.request_body import BODY_MAX_BYTES

_JUDGED_BY_THE_GATE = TransportSecuritySettings(enable_dns_rebinding_protection=False)


async def answer_post(server: Server[Any], scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request.

    The SDK's manager of sessions is made for this request alone and ends with it. So no session outlives its request,
    no lifespan has to be entered, and a reload has nothing to restart.
    """
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        security_settings=_JUDGED_BY_THE_GATE,
        max_request_body_size=BODY_MAX_BYTES,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
