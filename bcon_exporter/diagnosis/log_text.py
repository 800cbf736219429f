"""Parses raw text of a log into lines: removes prefixes and stamps, and masks secrets.

The engine's own answers come through `engine`; this is for files, pipes and excerpts, whose lines may carry the
prefix of `docker compose logs` or the stamp of `docker logs -t`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import starmap

import re2

from bcon_exporter.diagnosis.log_levels import is_level_name
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.secrets.cleaning import clip_text, strip_controls
from bcon_exporter.secrets.masking import mask_lines

MAX_LINE_CHARS = 8192

_COMPOSE = re2.compile(r"^([a-zA-Z0-9][\w.-]{0,100}) {0,60}\|(?: |$)")
_STAMP = re2.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
_CRI = re2.compile(r"^(stdout|stderr) ([FP]) ")


def lines_of(texts: Sequence[str]) -> tuple[LogLine, ...]:
    """Return the lines that a program wrote, oldest first, cleaned, masked and clipped."""
    cleaned = [strip_controls(text.rstrip("\r\n")) for text in texts]
    masked = mask_lines(cleaned)
    return tuple(starmap(_line, _unwrapped(masked)))


def _line(at: datetime | None, text: str) -> LogLine:
    return LogLine(at=at, stream="stdout", text=clip_text(text, MAX_LINE_CHARS))


def _unwrapped(texts: Sequence[str]) -> list[tuple[datetime | None, str]]:
    """Remove prefixes and stamps, and join lines that a runtime split at 16 KiB (CRI's `P` lines)."""
    lines: list[tuple[datetime | None, str]] = []
    part = ""
    for raw in texts:
        text = without_prefix(raw)
        at, message = split_stamp(text)
        cri = _CRI.match(message) if at is not None else None
        if cri is None:
            lines.append((at, message if at is not None else text))
            continue
        part += message[cri.end() :]
        if cri.group(2) == "F":
            lines.append((at, part))
            part = ""
    if part:
        lines.append((None, part))
    return lines


def without_prefix(text: str) -> str:
    """Return a line without the name that `docker compose logs` puts in front; a level in its place stays."""
    if "|" not in text[:160]:
        return text
    prefix = _COMPOSE.match(text)
    return text if prefix is None or is_level_name(prefix.group(1)) else text[prefix.end() :]


def split_stamp(text: str) -> tuple[datetime | None, str]:
    """Return the time at the beginning of a line, as `docker logs -t` writes it, and the rest; None without one."""
    if not text[:1].isdigit():
        return None, text
    stamp = _STAMP.match(text)
    if stamp is None:
        return None, text
    zone = "+00:00" if stamp.group(3) == "Z" else stamp.group(3)
    fraction = (stamp.group(2) or "0")[:6].ljust(6, "0")
    try:
        at = datetime.fromisoformat(f"{stamp.group(1)}.{fraction}{zone}")
    except ValueError:
        return None, text
    return at.astimezone(UTC), text[stamp.end() :]
