"""Where a command writes: results to standard output, all else to standard error."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bcon_exporter.cli.selecting import choose
from bcon_exporter.errors import BconError
from bcon_exporter.secrets.cleaning import clean_text

if TYPE_CHECKING:
    from rich.status import Status

    from bcon_exporter.cli.parsing import Invocation
    from bcon_exporter.tools import Envelope

_PIPE_WIDTH = 160
_LEAST_WIDTH = 40


class OutputError(Exception):
    """Standard output cannot be written. A reader that has gone is a BrokenPipeError instead."""


@contextmanager
def _output_errors() -> Iterator[None]:
    """Raise an `OutputError` in place of the operating system's errors, except for a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        msg = f"the output cannot be written: {(error.strerror or type(error).__name__).lower()}"
        raise OutputError(msg) from None


def write_out(text: str) -> None:
    """Write text to standard output as it is.

    Raises:
        OutputError: There is no room, for example.
    """
    with _output_errors():
        sys.stdout.write(text)
        sys.stdout.flush()


def _width_of_output() -> int | None:
    """Return the columns of a pipe or a file: as COLUMNS says, else wide; None for a terminal, which knows its own."""
    if sys.stdout.isatty():
        return None
    import shutil  # imports three compressors

    return max(_LEAST_WIDTH, shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns)


def print_line(call: "Invocation", line: str, result: dict[str, object]) -> None:
    """Print one line, or with --format json a result in the envelope."""
    if getattr(call.arguments, "format", "table") == "json":
        print_result(call, result)
    else:
        write_out(line + "\n")


def print_result(call: "Invocation", result: object) -> None:
    """Print plain values in the envelope of a result, or what --select chooses of them."""
    write_out(choose(call.arguments.select, json.dumps({"result": result}, ensure_ascii=False) + "\n"))


def complain(error: BconError) -> None:
    """Write an error as one line to standard error."""
    line = " ".join(clean_text(error.message).split())
    sys.stderr.write(f"bcon-exporter: {line}\n")
    sys.stderr.flush()


class Screen:
    """Standard output and standard error, in one of the three formats.

    Colour, progress and clearing happen on a terminal only; NO_COLOR is respected.

    Args:
        form: table, json or markdown.
        expression: What to choose of a result in JSON; None for all.
    """

    def __init__(self, form: str, expression: str | None = None) -> None:
        from rich.console import Console  # slow to import: for commands only

        self.form = form
        self._expression = expression
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        self._out = Console(highlight=False, markup=False, emoji=False, width=_width_of_output())
        self._err = Console(stderr=True, highlight=False, markup=False, emoji=False)

    def show(self, envelope: "Envelope", *, healthy_too: bool = False) -> None:
        """Write an answer; an error goes to standard error, and in JSON to standard output as well."""
        if self.form == "json":
            whole = envelope.body.decode() + "\n"
            self.write(whole if envelope.error is not None else choose(self._expression, whole))
        if envelope.error is not None:
            complain(envelope.error)
        elif self.form != "json":
            self.show_value(envelope.value, healthy_too=healthy_too)

    def show_value(self, value: Any, *, healthy_too: bool = False) -> None:
        """Write a report as text: a table or Markdown."""
        from bcon_exporter.outputs.text import render_markdown, render_text  # as above

        if self.form == "markdown":
            self.write(render_markdown(value, healthy_too=healthy_too))
            return
        rendered = render_text(value, healthy_too=healthy_too)
        with _output_errors():
            if self._out.is_terminal:
                self._out.print(rendered)
                return
            with self._out.capture() as captured:
                self._out.print(rendered)
        self.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))

    def write(self, text: str) -> None:
        """Write text as it is."""
        write_out(text)

    def clear(self) -> None:
        """Begin anew on a terminal; elsewhere leave an empty line."""
        if self._out.is_terminal:
            self._out.clear()
        else:
            self.write("\n")

    @contextmanager
    def progress(self, what: str) -> Iterator[None]:
        """Show on a terminal that work goes on."""
        if not self._err.is_terminal:
            yield
            return
        with self._err.status(what, spinner="dots"):
            yield

    @contextmanager
    def watching(self, what: str) -> Iterator["Watching"]:
        """Show on a terminal how far a watch is: a line that changes, below those that stay."""
        if not self._err.is_terminal:
            yield Watching(None)
            return
        with self._err.status(what, spinner="dots") as status:
            yield Watching(status)


class Watching:
    """What a terminal shows of a watch; without a terminal nothing.

    Args:
        status: rich's; None where there is no terminal.
    """

    def __init__(self, status: "Status | None") -> None:
        self._status = status

    def say(self, line: str) -> None:
        """Write a line that stays."""
        if self._status is not None:
            self._status.console.print(clean_text(line))

    def show(self, line: str) -> None:
        """Replace the line that changes."""
        if self._status is not None:
            self._status.update(clean_text(line))
