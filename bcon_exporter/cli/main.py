"""Runs a command line and returns its exit code; here every error becomes one line."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.exits import Exit, exit_of_error
from bcon_exporter.cli.parsing import PROGRAM, Invocation, find_command, find_format, parse, read_format
from bcon_exporter.cli.screen import OutputError, Screen, complain, write_out
from bcon_exporter.cli.selecting import prepare_select
from bcon_exporter.cli.version_command import version_line
from bcon_exporter.errors import BconError, InternalError
from bcon_exporter.signals_during_start import give_signals_back

_CHECK = next(command for command in COMMANDS if command.name == "check-config")


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run one command and return its exit code (see `Exit`); never raises but for `--help`.

    Args:
        argv: The words after the program's name; the process's own when absent.
        environ: The environment for settings; the process's own when absent.
    """
    _fill_standard_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words, environ)
    except BconError as error:
        return _fail(words, error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the reader has gone
        _discard_output()
        return Exit.PIPE_CLOSED
    except OutputError as error:
        _discard_output()
        sys.stderr.write(f"{PROGRAM}: {error}\n")
        return Exit.FAILED
    except Exception as error:  # noqa: BLE001 -- the request boundary: a defect becomes one line with an id
        incident = _log_defect(error)
        msg = f"an unexpected {type(error).__name__} happened (id {incident}); please report it"
        return _fail(words, InternalError(msg, {"id": incident}))


def _log_defect(error: Exception) -> str:
    """Log a defect with its traceback and a new id; return the id."""
    import logging  # both only here: most commands need neither
    import secrets

    incident = secrets.token_hex(4)
    logging.getLogger(__name__).error("command failed unexpectedly (id %s)", incident, exc_info=error)
    return incident


def _fill_standard_streams() -> None:
    """Open /dev/null for standard streams that came closed (`>&-`).

    Otherwise the next file or socket gets their number, and child processes write into it.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 -- for as long as we live
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 -- as above
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 -- as above


def _discard_output() -> None:
    """Send standard output to /dev/null, or Python complains once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str], environ: Mapping[str, str] | None) -> int:
    command, rest = find_command(words, COMMANDS)
    if command is None:
        return _without_command(rest, environ)
    call = parse(command, rest, environ)
    prepare_select(call.arguments, read_format(rest))
    if call.needs_settings and call.settings.config.check:
        command = _CHECK
    if command.name != "serve":
        _prepare(call)
    return command.start(call)


def _prepare(call: Invocation) -> None:
    """Set up what a command needs and the daemon does not: Ctrl-C, the OOM score, a short log."""
    give_signals_back()
    if call.needs_settings:
        from bcon_exporter.cli.command_log import quiet_logging  # slow to import

        _be_killed_first()
        quiet_logging(call.settings)


def _be_killed_first() -> None:
    """Raise the OOM score, so that in a shared container the kernel kills this process before the daemon."""
    with suppress(OSError):  # not Linux, or the score is higher already
        Path("/proc/self/oom_score_adj").write_text("500")


def _without_command(words: list[str], environ: Mapping[str, str] | None) -> int:
    if "--version" in words:
        write_out(version_line() + "\n")
        return Exit.FINE
    if "-h" in words or "--help" in words:
        write_out(overview())
        return Exit.FINE
    if words:  # settings alone: `bcon-exporter --config.check` is meant for them
        call = parse(_CHECK, words, environ)
        if call.settings.config.check:
            return _CHECK.start(call)
    sys.stderr.write(f"{PROGRAM}: no command given\n\n{overview()}")
    return Exit.USAGE


def overview() -> str:
    """Return the list of commands."""
    lines = [f"usage: {PROGRAM} COMMAND [ARGUMENTS] [--SETTING VALUE ...]", ""]
    lines += ["Says what is wrong with the containers of a Docker host, why, and what to do. Read-only.", ""]
    groups = dict.fromkeys(command.group for command in COMMANDS)
    for group in groups:
        lines.append(f"{group}:")
        lines += [f"  {command.name:<22}{command.description}" for command in COMMANDS if command.group == group]
        lines.append("")
    lines.append(f"{PROGRAM} COMMAND --help tells more; {PROGRAM} serve --help lists every setting.")
    return "\n".join(lines) + "\n"


def _fail(words: Sequence[str], error: BconError) -> int:
    """Print the error as one line, or as an envelope where the command answers in JSON; return the exit code."""
    form = find_format(words, COMMANDS)
    if form == "json":
        from bcon_exporter.tools.envelope import failure  # slow to import

        Screen(form).show(failure(error))
    elif form == "agent":
        from bcon_exporter.cli.agent_format import write_error  # as above

        write_error(next(iter(words), ""), error)
    else:
        complain(error)
    return exit_of_error(error)
