"""Commands for people who give tools to AI agents: `tools` lists them, `run-tool-calls` runs what a model wrote."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.cli.commands import STDIN, TOOL_FORMATS
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.screen import print_result, write_out
from bcon_exporter.errors import BconError, InvalidInputError, SettingsError
from bcon_exporter.secrets.cleaning import clean_name

if TYPE_CHECKING:
    from bcon_exporter.agents.answer_rendering import AgentAnswer
    from bcon_exporter.agents.kept_pages import KeptPages
    from bcon_exporter.agents.tool_call_blocks import ToolCall
    from bcon_exporter.tools import Context


def list_tools(call: Invocation) -> int:
    """List the tools."""
    from bcon_exporter.agents.schemas import DEFAULT_TOOLSETS, TOOLSETS, describe_tools, offered_tools
    from bcon_exporter.outputs.http.openapi_models import describe_tool

    given = call.arguments
    for_client = given.format in TOOL_FORMATS
    if given.strict and not for_client:
        msg = "--strict goes with --format openai"
        raise SettingsError(msg, {"flag": "--strict"})
    names = given.toolsets.split(",") if given.toolsets is not None else DEFAULT_TOOLSETS if for_client else TOOLSETS
    if for_client:
        described = describe_tools(given.format, names, strict=given.strict)
        write_out(json.dumps(described, indent=2, ensure_ascii=False) + "\n")
        return Exit.FINE
    tools = offered_tools(names)
    if given.format == "json":
        print_result(call, [describe_tool(tool).model_dump(mode="json") for tool in tools])
    else:
        width = max(len(tool.name) for tool in tools) + 2
        rows = ((tool.name, tool.toolset, tool.stage.add_to(tool.summary)) for tool in tools)
        write_out("".join(f"{name:<{width}}{toolset:<8}{text}\n" for name, toolset, text in rows))
    return Exit.FINE


def run_tool_calls(call: Invocation) -> int:
    """Run the calls in a text in their order; print a block for each, and return 1 if any failed."""
    from bcon_exporter.agents.kept_pages import KeptPages
    from bcon_exporter.agents.tool_call_blocks import fence, read_transcript
    from bcon_exporter.cli.tool_runner import close_context, make_context

    transcript = read_transcript(_read(call.arguments.file))
    for line in transcript.quoted:
        sys.stderr.write(f"{PROGRAM}: line {line}: a tool_call within another block is quoted, and not run\n")
    if not transcript.blocks:
        msg = "there is no tool_call block to run; a call stands between a line ```tool_call and a line ```"
        raise InvalidInputError(msg, {})
    failed = False
    context, kept = make_context(call), KeptPages()
    try:
        for block in transcript.blocks:
            answer = _answer(context, block.call, kept)
            failed = failed or answer.is_error
            write_out(fence(answer.body))
    finally:
        close_context(context)
    return Exit.FINDINGS if failed else Exit.FINE


def _answer(context: "Context", wanted: "ToolCall | BconError", kept: "KeptPages") -> "AgentAnswer":
    """Return what an agent reads of the answer to a call."""
    from bcon_exporter.agents.answer_rendering import (
        ViewOptions,
        find_host_name,
        render_answer,
        render_error,
        split_options,
    )
    from bcon_exporter.agents.time_limits import find_seconds, run_within
    from bcon_exporter.agents.tool_call_blocks import CALL
    from bcon_exporter.tools import execute, find_tool

    host_name = find_host_name(context)
    if isinstance(wanted, BconError):
        return render_error(CALL, wanted, ViewOptions(), host_name, context.now())
    try:
        tool = find_tool(wanted.tool).for_input(wanted.arguments)
        options, arguments = split_options(wanted.arguments, tool)
    except InvalidInputError as error:
        return render_error(wanted.tool, error, ViewOptions(), host_name, context.now())
    if (page := kept.find(tool, arguments, options)) is not None:
        return page
    seconds = find_seconds(tool, arguments, context.now())
    envelope = run_within(tool, seconds, partial(execute, context, tool.name, arguments))
    answer = render_answer(tool, envelope, options, find_host_name(context), context.now())
    return kept.keep(tool, arguments, options, answer)


def _read(name: str) -> str:
    """Return a text of 64 KiB at most.

    Raises:
        InvalidInputError: It is longer, or the file cannot be read.
    """
    from bcon_exporter.agents.tool_call_blocks import MAX_BYTES

    try:
        if name == STDIN:
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as stream:
                raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        msg = f"{clean_name(name)} cannot be read: {error.strerror}"
        raise InvalidInputError(msg, {"file": clean_name(name)}) from None
    if len(raw) > MAX_BYTES:
        msg = f"what is to be run is longer than {MAX_BYTES // 1024} KiB; give the calls alone"
        raise InvalidInputError(msg, {})
    return raw.decode("utf-8", "replace")
