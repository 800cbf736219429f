"""Agents over a listener with TLS: answered with a token, refused without one, and not at all in plain HTTP."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.bounded_http import BoundedConnection
from bcon_exporter.outputs.http import Listener, bind
from bcon_exporter.outputs.http.web_access import WebAccess
from tests.factories import container, snapshot
from tests.outputs.http.asking import BEYOND, users_with_tokens
from tests.outputs.http.test_listeners import served
from tests.outputs.http.test_web_config import certificate, needs_openssl, write
from tests.outputs.mcp.talking import DIAGNOSE_ALL, site_for_agents
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.integration, needs_openssl]

HEADERS = {
    "Accept": "application/json",
    "Content-Type": "application/json",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "diagnose_all",
    "MCP-Protocol-Version": "2026-07-28",
}


def post(port: int, tls: ssl.SSLContext | None, headers: dict[str, str]) -> tuple[int, bytes]:
    """Status and body of the answer to an agent."""
    with BoundedConnection("127.0.0.1", port, 20.0, tls) as connection:
        connection.request("POST", "/mcp", json.dumps(DIAGNOSE_ALL), {**HEADERS, **headers})
        answer = connection.getresponse()
        return answer.status, connection.read(answer, 1_000_000)


def test_an_agent_is_served_over_tls_with_a_token_and_by_nothing_less(tmp_path: Path) -> None:
    access = WebAccess(write(tmp_path, certificate(tmp_path)))
    site = site_for_agents(make_context(snapshot(container(name="web"))))
    app = site.behind(lambda: BEYOND, lambda: users_with_tokens(ci="t0ken"))
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    token = {"Authorization": "Bearer t0ken"}

    def talk(port: int) -> tuple[tuple[int, bytes], int]:
        good, bare = post(port, trust, token), post(port, trust, {})
        with pytest.raises((http.client.HTTPException, OSError)):
            post(port, None, token)
        with pytest.raises(ssl.SSLCertVerificationError):
            post(port, ssl.create_default_context(), token)
        return good, bare[0]

    (status, body), refused = served(Listener(bind("127.0.0.1", 0, "web.listen-address"), app, access.tls), talk)

    assert (status, refused) == (200, 401)
    assert json.loads(body)["result"]["isError"] is False
