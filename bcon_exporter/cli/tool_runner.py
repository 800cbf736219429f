"""Runs a tool for a command, once or, with --watch, again and again."""

import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bcon_exporter.app import build_context, build_replay
from bcon_exporter.cli.daemon_client import NOTES_PATH, VERB_OF, ask_daemon, ask_disk, ask_past, recall
from bcon_exporter.cli.exits import Exit, exit_of_error, exit_of_result
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import Screen
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.notes import Decision, NoteInput, NoteLine, WriteMemoryInput, WrittenNote
from bcon_exporter.model.tool_inputs import Words
from bcon_exporter.settings import parse_duration
from bcon_exporter.tools import Context, Envelope, Tool, find_tool, run_tool
from bcon_exporter.tools.replay import read_snapshot

_ARGUMENTS = {"container": "container", "compose_file": "Compose file"}
"""Arguments that --watch takes for its duration when they stand behind it."""


def run_command_tool(
    call: Invocation, tool: str | Tool[Any], payload: Mapping[str, object], *, healthy_too: bool = False
) -> int:
    """Run a tool, show its answer and return the exit code; with --watch run it until Ctrl-C."""
    chosen = find_tool(tool) if isinstance(tool, str) else tool
    screen = Screen(call.arguments.format, call.arguments.select)
    pause = _watch_pause(call)
    context = make_context(call)
    try:
        while True:
            with screen.progress("Reading containers ..."):
                envelope = run_tool(context, chosen, Words(payload))
            if pause is not None:
                screen.clear()
            if call.arguments.format == "agent":
                from bcon_exporter.cli.agent_format import ViewOptions, write_answer  # few ask for it

                write_answer(context, chosen, envelope, ViewOptions(select=call.arguments.select))
            else:
                screen.show(envelope, healthy_too=healthy_too)
            if pause is None:
                return exit_of(envelope, getattr(call.arguments, "fail_on", "error"))
            threading.Event().wait(pause.total_seconds())
    finally:
        close_context(context)


def exit_of(envelope: Envelope, fail_on: str) -> Exit:
    """Return the exit code of an answer."""
    return exit_of_result(envelope.value, fail_on) if envelope.error is None else exit_of_error(envelope.error)


def make_context(call: Invocation) -> Context:
    """Return a context that reads the engine, or a snapshot file."""
    file = getattr(call.arguments, "from_snapshot", None)
    if file is None:
        context = build_context(call.settings, one_shot=True)
        return replace(
            context,
            ask_past=lambda *asked: ask_past(call, context, *asked),
            recall=lambda snapshot: recall(snapshot, call.settings, context.memory),
            ask_disk=lambda request: ask_disk(request, call.settings),
            write_note=lambda request: write_note(call, request),
            decide_note=lambda request, decision: decide_note(call, request, decision),
        )
    return build_replay(call.settings, read_snapshot(Path(file)))


def write_note(call: Invocation, request: WriteMemoryInput) -> WrittenNote:
    """Have the daemon keep a note, as an agent's: it waits for a person.

    Raises:
        BconError: No daemon answers, or it refuses.
    """
    payload = request.model_dump(mode="json")
    return WrittenNote.model_validate(ask_daemon(call, "POST", "/api/v1/tools/write_memory", payload))


def decide_note(call: Invocation, request: NoteInput, decision: Decision) -> NoteLine:
    """Have the daemon do what a person said of a note.

    Raises:
        BconError: No daemon answers, or it refuses.
    """
    path = f"{NOTES_PATH}/{quote(request.note_id, safe='')}/{VERB_OF[decision]}"
    return NoteLine.model_validate(ask_daemon(call, "POST", path, {}))


def close_context(context: Context) -> None:
    """Close the engine's connections and the state file."""
    with closing(context.memory), closing(context.host):
        pass


def _watch_pause(call: Invocation) -> timedelta | None:
    raw = getattr(call.arguments, "watch", None)
    if raw is None:
        return None
    try:
        pause = parse_duration(raw)
    except ValueError as error:
        left_out = next((name for name in _ARGUMENTS if getattr(call.arguments, name, "") in (None, [])), None)
        hint = f"; put the {_ARGUMENTS[left_out]} before --watch" if left_out else ""
        msg = f"--watch: {error}{hint}"
        raise SettingsError(msg, {"flag": "--watch"}) from None
    return max(pause, timedelta(seconds=0.5))
