r"""The engine's log bytes → lines. Pure.

Read on engine 20.10 (API 1.41), with `timestamps=1`:
- Without a terminal every entry is a frame: stream, three zeros, length (4 bytes, big-endian), "STAMP text\n". A line
  above 16 KiB comes as several frames; only the last ends in a line feed, and each has the stamp of the first.
  Where another stamp follows, the line had ended all the same: the driver `local` puts no line feed after a long line,
  and no driver puts one after the last words of a program that wrote none (each run of a crash loop, say).
- With a terminal there are no frames: "STAMP text\r\n"; within a long line the stamp stands again at each 16 KiB. Last
  words without a line feed run into the stamp of the next run's first line.
- Invalid UTF-8 arrives as U+FFFD from json-file, and as it is from other drivers.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal

import re2

from bcon_exporter.model.container_facts import LogLines
from bcon_exporter.secrets.cleaning import ELLIPSIS, strip_controls
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.masking import mask_lines

Stream = Literal["stdout", "stderr"]

MAX_LINE_CHARS = 8192
# What is kept of a huge line before any pattern sees it: more than is shown, and without the words at the cut, so that
# no half of a secret is left that its pattern would not know.
_RAW_HEAD_BYTES = 12 * 1024
_RAW_TAIL_BYTES = 4 * 1024
_LONGEST_CUT_WORD = 1024
_CUT_WORDS = 3
_SHOWN_TAIL_CHARS = 2048
_HEADER_BYTES = 8
_HEADER = struct.Struct(">II")
_LINE_HEAD = struct.Struct(">II19sx9s2s")
"""A header, and a stamp of the engine's own with what stands behind it: the second, nine digits, "Z "."""
_LONGEST_WHOLE_LINE = _LINE_HEAD.size + _RAW_HEAD_BYTES
# The first byte of four is the stream; stdin's is read as stdout, as the engine's own client does.
_STREAMS: dict[int, Stream] = {0: "stdout", 1 << 24: "stdout", 2 << 24: "stderr"}
_PLAIN_BYTES = b"\t\n" + bytes(range(ord(" "), ord("~") + 1))
_CHUNK_BYTES = 16 * 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORTEST_STAMP = len("2026-01-01T00:00:00Z")
_FIXED_STAMP = len("2026-01-01T00:00:00.000000000Z")
_INNER_STAMP = re2.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ")
_LONGEST_STAMP = len("2026-01-01T00:00:00.000000000+00:00")


@dataclass(frozen=True, slots=True)
class RawLogEntry:
    """One line as it was read: not decoded, cleaned or masked.

    Attributes:
        nanoseconds: Since the epoch; None without a stamp.
        complete: False for a line that the container has not ended yet (or that was cut off).
        pieces: In how many of at most 16 KiB the engine keeps it; `tail` counts these.
    """

    nanoseconds: int | None
    stream: Stream
    body: bytes
    complete: bool = True
    pieces: int = 1


class RawLogEntries:
    """Lines as they were read, as columns (see `RawLogEntry`): a first scan reads hundreds of thousands."""

    __slots__ = ("bodies", "complete", "nanoseconds", "pieces", "streams")

    def __init__(self, entries: Iterable[RawLogEntry] = ()) -> None:
        self.nanoseconds: list[int | None] = []
        self.streams: list[Stream] = []
        self.bodies: list[bytes] = []
        self.complete: list[bool] = []
        self.pieces: list[int] = []
        for entry in entries:
            self.append(entry)

    def append(self, entry: RawLogEntry) -> None:
        """Add a line at the end."""
        self.nanoseconds.append(entry.nanoseconds)
        self.streams.append(entry.stream)
        self.bodies.append(entry.body)
        self.complete.append(entry.complete)
        self.pieces.append(entry.pieces)

    def add_whole(self, nanoseconds: Sequence[int], streams: Sequence[Stream], bodies: Sequence[bytes]) -> None:
        """Add lines at the end that have ended, of one piece each."""
        self.nanoseconds += nanoseconds
        self.streams += streams
        self.bodies += bodies
        self.complete += [True] * len(bodies)
        self.pieces += [1] * len(bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def __iter__(self) -> Iterator[RawLogEntry]:
        return map(RawLogEntry, self.nanoseconds, self.streams, self.bodies, self.complete, self.pieces)

    def __getitem__(self, place: int) -> RawLogEntry:
        return next(iter(self.pick([place])))

    def pick(self, places: list[int]) -> "RawLogEntries":
        """Return the lines at some places; itself where these are all, in their order."""
        if places == list(range(len(self))):
            return self
        picked = RawLogEntries()
        picked.nanoseconds = [self.nanoseconds[at] for at in places]
        picked.streams = [self.streams[at] for at in places]
        picked.bodies = [self.bodies[at] for at in places]
        picked.complete = [self.complete[at] for at in places]
        picked.pieces = [self.pieces[at] for at in places]
        return picked


def parse_log_stream(raw: bytes, *, tty: bool | None) -> LogLines:
    """Read all lines of a log answer, oldest first, cleaned, masked and clipped.

    Args:
        raw: The answer's body; it may be cut off anywhere.
        tty: Whether the container has a terminal; None when unknown (then told from the bytes).
    """
    return finish_entries(split_entries(raw, tty=tty))


def finish_entries(entries: RawLogEntries, secrets: KnownSecrets = NO_SECRETS, before: Sequence[str] = ()) -> LogLines:
    """Decode, clean, mask (all lines at once, since key blocks span lines) and clip.

    Args:
        entries: Lines of one log, in their order.
        secrets: Values that must not be shown of the container, masked wherever they stand.
        before: The last line of an earlier read, masked: it may name what the first line holds.
    """
    texts = _decode_lines(entries.bodies)
    texts = mask_lines([*before, *secrets.hide_lines(texts)])[len(before) :]
    return LogLines(
        entries.nanoseconds,
        entries.streams,
        [text if len(text) <= MAX_LINE_CHARS else _clip_line(text) for text in texts],
    )


def _decode_lines(bodies: list[bytes]) -> list[str]:
    """Decode and clean lines; where there is nothing to clean, as nearly everywhere, all of them at once."""
    joined = b"\n".join(bodies)
    text = joined.decode("utf-8", "replace")
    lines = text.split("\n")
    is_plain = not joined.translate(None, _PLAIN_BYTES)  # told much faster than what is printable
    if len(lines) == len(bodies) and (is_plain or text.replace("\n", "").replace("\t", "").isprintable()):
        return lines
    return [strip_controls(body.decode("utf-8", "replace")) for body in bodies]


def drop_cut_line(entries: RawLogEntries, tail: int) -> tuple[RawLogEntries, bool]:
    """Return the entries without what may be the rest of a line begun before them, and whether there are older ones.

    A secret in such a rest has lost its name. Of a line of several pieces only the words at the cut go.

    Args:
        entries: As read.
        tail: The `tail` in the request.
    """
    if sum(entries.pieces) < tail:
        return entries, False
    if entries.pieces[0] == 1:
        return entries.pick(list(range(1, len(entries)))), True
    first, kept = entries.bodies[0], RawLogEntries(entries)
    words = first[:_LONGEST_CUT_WORD].split(b" ", _CUT_WORDS)
    cut = sum(len(word) + 1 for word in words[:_CUT_WORDS]) if len(words) > _CUT_WORDS else _LONGEST_CUT_WORD
    kept.bodies[0] = f"{ELLIPSIS} ".encode() + first[cut:]
    return kept, True


def split_entries(raw: bytes, *, tty: bool | None) -> RawLogEntries:
    """Take the stream apart to lines; long ones are joined again and their middle is dropped."""
    if tty or not _is_framed(raw):
        return _split_terminal(raw)
    return _split_frames(raw)


@lru_cache(maxsize=64)
def _whole_seconds(text: bytes) -> int | None:
    """Return "2026-01-31T12:00:00" as nanoseconds since the epoch; lines of one second share it."""
    try:
        return (datetime.fromisoformat(text.decode("ascii") + "Z") - _EPOCH) // timedelta(seconds=1) * 1_000_000_000
    except ValueError:
        return None


def parse_stamp(stamp: bytes) -> int | None:
    """Return the nanoseconds of an RFC 3339 stamp since the epoch, None when it is none."""
    nanoseconds = _parse_own_stamp(stamp) if len(stamp) == _FIXED_STAMP else None
    return _parse_other_stamp(stamp) if nanoseconds is None else nanoseconds


def _parse_own_stamp(text: bytes) -> int | None:
    """Parse the engine's own form at the beginning of a text: nine digits, and UTC."""
    digits = text[20:29]
    if text[29:30] != b"Z" or not digits.isdigit():
        return None
    seconds = _whole_seconds(text[:19])
    return None if seconds is None else seconds + int(digits)


def _parse_other_stamp(stamp: bytes) -> int | None:
    """Parse a stamp with an offset or fewer digits (Podman's)."""
    if not _SHORTEST_STAMP <= len(stamp) <= _LONGEST_STAMP or not stamp.isascii():
        return None
    text = stamp.decode("ascii")
    try:
        whole = datetime.fromisoformat(text)
    except ValueError:
        return None
    if whole.tzinfo is None:
        return None
    dot = text.find(".")
    digits = text[dot + 1 : dot + 10].rstrip("Z+-:") if dot > 0 else ""
    digits = "".join(char for char in digits.partition("+")[0].partition("-")[0] if char.isdigit())
    seconds = (whole - _EPOCH) // timedelta(seconds=1)
    return seconds * 1_000_000_000 + int(digits.ljust(9, "0") or 0)


def _is_framed(raw: bytes) -> bool:
    return len(raw) >= _HEADER_BYTES and raw[0] <= 2 and raw[1:4] == b"\0\0\0"  # noqa: PLR2004 - stdin, stdout, stderr


def _clip_line(text: str) -> str:
    head = text[: MAX_LINE_CHARS - _SHOWN_TAIL_CHARS - 3]
    return f"{head} {ELLIPSIS} {text[-_SHOWN_TAIL_CHARS:]}"


class _Growing:
    """A line that arrives in chunks; holds its head and its tail only."""

    __slots__ = ("dropped", "head", "nanoseconds", "pieces", "tail")

    def __init__(self, nanoseconds: int | None) -> None:
        self.nanoseconds = nanoseconds
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = False
        self.pieces = 0

    def add(self, chunk: bytes) -> None:
        self.pieces += 1
        room = _RAW_HEAD_BYTES - len(self.head)
        self.head += chunk[:room] if room > 0 else b""
        rest = chunk[max(room, 0) :]
        if rest:
            self.tail += rest
            if len(self.tail) > _RAW_TAIL_BYTES:
                del self.tail[:-_RAW_TAIL_BYTES]
                self.dropped = True

    def finish(self, stream: Stream, *, complete: bool) -> RawLogEntry:
        if not self.dropped:
            return RawLogEntry(self.nanoseconds, stream, bytes(self.head + self.tail), complete, self.pieces)
        blank = self.head.rfind(b" ", -_LONGEST_CUT_WORD)
        head = self.head[: blank if blank > 0 else -_LONGEST_CUT_WORD]
        blank = self.tail.find(b" ", 0, _LONGEST_CUT_WORD)
        tail = self.tail[blank + 1 if blank >= 0 else _LONGEST_CUT_WORD :]
        body = bytes(head) + f" {ELLIPSIS} ".encode() + bytes(tail)
        return RawLogEntry(self.nanoseconds, stream, body, complete, self.pieces)


def _split_frames(raw: bytes) -> RawLogEntries:
    entries = RawLogEntries()
    growing: dict[Stream, _Growing] = {}
    position, size = _add_whole_lines(entries, raw, 0), len(raw)
    while position <= size - _HEADER_BYTES:
        kind, length = _HEADER.unpack_from(raw, position)
        stream = _STREAMS.get(kind)
        if stream is None:  # nonsense: what is there is the last frame
            _add_frame(entries, growing, "stdout", raw[position:])
            break
        start, position = position + _HEADER_BYTES, position + _HEADER_BYTES + length
        _add_frame(entries, growing, stream, raw[start:position])
        if not growing:
            position = _add_whole_lines(entries, raw, position)
    for stream, line in growing.items():
        entries.append(line.finish(stream, complete=False))
    return entries


def _add_whole_lines(entries: RawLogEntries, raw: bytes, position: int) -> int:
    """Add the lines of all frames up to one that is no whole line with the engine's own stamp; return where it begins.

    Nearly all frames are such lines: the line feed tells how long the frame must be.
    """
    times: list[int] = []
    streams: list[Stream] = []
    bodies: list[bytes] = []
    text = _LINE_HEAD.size
    while (end := raw.find(b"\n", position)) >= 0:
        size = end + 1 - position
        if not text < size <= _LONGEST_WHOLE_LINE:
            break
        kind, length, seconds, digits, border = _LINE_HEAD.unpack_from(raw, position)
        stream = _STREAMS.get(kind)
        if stream is None or length != size - _HEADER_BYTES or border != b"Z " or not digits.isdigit():
            break
        whole = _whole_seconds(seconds)
        if whole is None:
            break
        times.append(whole + int(digits))
        streams.append(stream)
        bodies.append(raw[position + text : end])
        position = end + 1
    entries.add_whole(times, streams, bodies)
    return position


def _add_frame(entries: RawLogEntries, growing: dict[Stream, _Growing], stream: Stream, payload: bytes) -> None:
    """Add the lines that end in a frame, of any form; what has not ended goes on to grow."""
    nanoseconds, text = _split_stamp(payload)
    open_line = growing.get(stream)
    if open_line is not None and nanoseconds != open_line.nanoseconds and nanoseconds is not None:
        entries.append(growing.pop(stream).finish(stream, complete=True))
        open_line = None
    if open_line is None and text.find(b"\n") == len(text) - 1 and 0 < len(text) <= _RAW_HEAD_BYTES:
        entries.append(RawLogEntry(nanoseconds, stream, text[:-1]))
        return
    if open_line is None:
        open_line = growing[stream] = _Growing(nanoseconds)
    *lines, last = text.split(b"\n")
    for line in lines:
        open_line.add(line)
        entries.append(open_line.finish(stream, complete=True))
        open_line = growing[stream] = _Growing(nanoseconds)
    open_line.add(last)
    if lines and not last:
        del growing[stream]


def _split_stamp(line: bytes) -> tuple[int | None, bytes]:
    """Split "STAMP text"; a line without a stamp is all text."""
    if line[_FIXED_STAMP : _FIXED_STAMP + 1] == b" " and (nanoseconds := _parse_own_stamp(line)) is not None:
        return nanoseconds, line[_FIXED_STAMP + 1 :]
    end = line.find(b" ", 0, _LONGEST_STAMP + 1)
    if end < _SHORTEST_STAMP:
        return None, line
    nanoseconds = parse_stamp(line[:end])
    return (None, line) if nanoseconds is None else (nanoseconds, line[end + 1 :])


def _split_terminal(raw: bytes) -> RawLogEntries:
    entries = RawLogEntries()
    start = 0
    while start < len(raw):
        end = raw.find(b"\n", start)
        stop = end if end >= 0 else len(raw)
        for begin in _beginnings(raw, start, stop):
            entries.append(_terminal_line(raw[start : min(begin, start + 64)], raw, start, begin))
            start = begin
        entries.append(_terminal_line(raw[start : min(stop, start + 64)], raw, start, stop))
        entries.complete[-1] = end >= 0
        start = stop + 1
    return entries


def _beginnings(raw: bytes, start: int, stop: int) -> Iterator[int]:
    """Yield where further entries begin within a line: at a later stamp of the engine's own form.

    A stamp of the program's own is older than the engine's before it, or newer than that of the next line.
    """
    if _INNER_STAMP.search(raw, start + _FIXED_STAMP, stop) is None:
        return
    newest, _ = _split_stamp(raw[start : start + 64])
    after, _ = _split_stamp(raw[stop + 1 : stop + 65])
    for match in _INNER_STAMP.finditer(raw, start + _FIXED_STAMP, stop):
        stamp = parse_stamp(match.group()[:-1])
        if stamp is not None and newest is not None and newest < stamp and (after is None or stamp <= after):
            newest = stamp
            yield match.start()


def _terminal_line(beginning: bytes, raw: bytes, start: int, stop: int) -> RawLogEntry:
    nanoseconds, text = _split_stamp(beginning)
    skipped = len(beginning) - len(text)
    stamp = beginning[:skipped]
    line = _Growing(nanoseconds)
    position = start + skipped
    while position < stop:
        # A chunk, then the same stamp again.
        chunk = raw[position : min(stop, position + _CHUNK_BYTES)]
        line.add(chunk)
        position += len(chunk)
        if stamp and raw.startswith(stamp, position):
            position += len(stamp)
    return line.finish("stdout", complete=True)
