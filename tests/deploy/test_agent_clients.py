"""What is shipped for agents' clients starts what exists: the command, its flags, the address, the package."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from bcon_exporter import __version__
from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.parsing import find_command, parse
from bcon_exporter.outputs.http.access_control import MCP_PATH
from bcon_exporter.settings import Settings
from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = ROOT / "deploy" / "mcp"
MANIFEST = json.loads((FOLDER / "server.json").read_text())
CLIENTS = {"claude-desktop.json", "vscode.json", "cursor.json", "http.json"}


def servers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every server of every client's configuration."""
    for name in sorted(CLIENTS):
        written = json.loads((FOLDER / name).read_text())
        for server in written.get("mcpServers", written.get("servers")).values():
            yield name, server


def test_there_is_one_for_each_client_and_the_documentation_names_it() -> None:
    page = (ROOT / "docs" / "agents.md").read_text()

    assert {path.name for path in FOLDER.iterdir()} == CLIENTS | {"server.json"}
    assert [name for name in (*CLIENTS, "server.json") if f"deploy/mcp/{name}" not in page] == []


@pytest.mark.parametrize(("name", "server"), list(servers()))
def test_a_server_is_our_command_or_our_address(name: str, server: dict[str, Any]) -> None:
    if "url" in server:
        url = urlsplit(server["url"])
        assert (url.path, url.port) == (MCP_PATH, Settings().web.listen_address.port), name
        assert url.hostname == "127.0.0.1" or (url.scheme == "https" and "Authorization" in server["headers"])
        return
    words = [server["command"], *server["args"]]
    own = words[words.index("bcon-exporter") + 1 :]
    command, rest = find_command(own, COMMANDS)
    assert command is not None
    assert command.name == "mcp"
    assert parse(command, rest, {}).settings.mcp.toolsets[0] == "core"


def test_the_manifest_names_this_version_and_what_the_extra_needs() -> None:
    (package,) = MANIFEST["packages"]
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["mcp"]

    assert MANIFEST["version"] == package["version"] == __version__
    assert len(MANIFEST["description"]) <= 100
    assert [one["value"] for one in package["runtimeArguments"]] == extra
    assert [one["value"] for one in package["packageArguments"]] == ["mcp"]
    variable = package["environmentVariables"][0]["name"]
    command, rest = find_command(["mcp"], COMMANDS)
    assert command is not None
    assert parse(command, rest, {variable: "unix:///x"}).settings.docker.host == "unix:///x"
