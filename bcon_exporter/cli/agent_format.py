"""--format agent: what AI agents read of an answer (docs/agents.md)."""

from typing import Any

from bcon_exporter.agents.answer_rendering import (
    AgentAnswer,
    ViewOptions,
    find_host_name,
    render_answer,
    render_error,
    split_options,
)
from bcon_exporter.cli.screen import complain, write_out
from bcon_exporter.clock import utc_now
from bcon_exporter.errors import BconError
from bcon_exporter.tools import Context, Envelope, Tool

__all__ = ["ViewOptions", "split_options", "write_answer", "write_error"]


def write_answer(context: Context, tool: Tool[Any], envelope: Envelope, options: ViewOptions) -> None:
    """Write an answer to standard output; an error as one line to standard error as well."""
    _write(render_answer(tool, envelope, options, find_host_name(context, ask=True), context.now()))
    if envelope.error is not None:
        complain(envelope.error)


def write_error(name: str, error: BconError) -> None:
    """Write an error in the same way: of a tool that there is not, or of what a command was asked with."""
    _write(render_error(name, error, ViewOptions(), "", utc_now()))
    complain(error)


def _write(answer: AgentAnswer) -> None:
    write_out(answer.body if answer.body.endswith("\n") else answer.body + "\n")
