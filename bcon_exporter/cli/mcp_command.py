"""Serves an AI agent over MCP on standard input and output: as the daemon's client, or with an engine of its own."""

import os
import sys
import threading
from contextlib import suppress
from dataclasses import replace

from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.errors import BconError, SettingsError

_EXIT_WITHIN_SECONDS = 1.5
_AUTO, _NONE = "auto", "none"


def serve_agent(call: Invocation) -> int:
    """Serve until the client closes standard input.

    Raises:
        SettingsError: The extra is not installed, or the daemon's address is none.
    """
    from bcon_exporter.outputs.mcp import require_sdk  # slow to import, as all below

    require_sdk(f"{PROGRAM} mcp")
    from bcon_exporter.cli.mcp_daemon import DaemonAnswers, find_daemon
    from bcon_exporter.cli.tool_runner import close_context, make_context
    from bcon_exporter.outputs.http.request_threads import RequestThreads
    from bcon_exporter.outputs.mcp.answers import OwnAnswers
    from bcon_exporter.outputs.mcp.server import make_server
    from bcon_exporter.outputs.mcp.stdio import serve_stdio

    given, toolsets = call.arguments, call.settings.mcp.toolsets
    structured = given.structured or call.settings.mcp.structured
    if given.user is not None and given.password_file is None:
        msg = "--user needs --password-file: standard input is the agent's"
        raise SettingsError(msg, {"flag": "--user"})
    daemon = None
    if given.daemon != _NONE and given.from_snapshot is None:
        daemon = find_daemon(call, None if given.daemon == _AUTO else given.daemon, _say)
    if daemon is not None:
        serve_stdio(
            lambda: make_server(DaemonAnswers(daemon, RequestThreads()), toolsets, structured=structured), _leave_soon
        )
        return Exit.FINE
    context = replace(make_context(call), outlives_calls=True)
    try:
        own = OwnAnswers(lambda: context, RequestThreads(), ask_name=True)
        serve_stdio(lambda: make_server(own, toolsets, structured=structured), _leave_soon)
    finally:
        with suppress(BconError):
            close_context(context)
    return Exit.FINE


def _say(message: str) -> None:
    """Tell the person who reads the client's log."""
    sys.stderr.write(f"{PROGRAM}: {message}\n")


def _leave_soon() -> None:
    """End the process in time, whatever a thread still waits for: the client has gone."""
    guard = threading.Timer(_EXIT_WITHIN_SECONDS, os._exit, (0,))
    guard.daemon = True
    guard.start()
