"""analyze-log: the diagnosis of a log file or of standard input, without an engine."""

import os
import sys
from pathlib import Path
from typing import BinaryIO

from pydantic_core import to_json

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.cli.commands import STDIN
from bcon_exporter.cli.exits import exit_of_result
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import Screen
from bcon_exporter.diagnosis import analyze, lines_of
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools.envelope import Envelope

MAX_BYTES = 64 * 1024 * 1024
"""The newest bytes that are read; what lies before them is left out."""
_CHUNK_BYTES = 1024 * 1024


def run_log_analysis(call: Invocation) -> int:
    """Print what the log says."""
    catalogue = load_catalogue(call.settings.catalogue.directory)
    raw = _read_stdin() if call.arguments.file == STDIN else _read_file(call.arguments.file)
    report = analyze(lines_of(raw.decode("utf-8", "replace").split("\n")), catalogue)
    Screen(call.arguments.format, call.arguments.select).show(Envelope(report, None, to_json(report)))
    return exit_of_result(report, call.arguments.fail_on)


def _read_file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as stream:
            return read_newest(stream, MAX_BYTES)
    except OSError as error:
        msg = f"the log file {clean_name(name)} cannot be read: {error.strerror}"
        raise InvalidInputError(msg, {"file": clean_name(name)}) from None


def _read_stdin() -> bytes:
    return read_newest(sys.stdin.buffer, MAX_BYTES)


def read_newest(stream: BinaryIO, max_bytes: int) -> bytes:
    """Read to the end and return the newest bytes, from the beginning of a line on, without the last line feed."""
    cut = stream.seekable() and stream.seek(0, os.SEEK_END) > max_bytes
    if stream.seekable():
        stream.seek(-max_bytes if cut else 0, os.SEEK_END if cut else os.SEEK_SET)
    kept = bytearray()
    while chunk := stream.read(_CHUNK_BYTES):
        kept += chunk
        if len(kept) > 2 * max_bytes:
            del kept[:-max_bytes]
            cut = True
    if len(kept) > max_bytes:
        del kept[:-max_bytes]
        cut = True
    if cut:
        del kept[: kept.find(b"\n") + 1]
    return bytes(kept).removesuffix(b"\n")
