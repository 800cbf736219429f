"""HTTP/1.1 answers, parsed as their bytes arrive. No I/O: bytes go in, answers come out.

Why not http.client: at 500 containers it costs ten times the CPU, reads with one blocking socket a thread, and has no
limit on the wall time of a body that trickles in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

HEAD_LIMIT_BYTES = 64 * 1024
_CHUNK_LINE_LIMIT_BYTES = 1024
_VERSIONS = (b"HTTP/1.0", b"HTTP/1.1")
_STATUS_END = len(b"HTTP/1.1 200")
_HEX_DIGITS = b"0123456789ABCDEFabcdef"
_CHUNK_SIZE_DIGITS = 8
_LENGTH_DIGITS = 15
_NO_BODY = frozenset({204, 304})


class MalformedAnswerError(ValueError):
    """What came is not HTTP/1.1."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole answer.

    Attributes:
        head: Status line and headers, as they came.
        cut: The body was longer than allowed and ends early.
    """

    status: int
    body: bytes
    head: bytes = b""
    cut: bool = False

    def header(self, name: str) -> str | None:
        """Return a header's value; looked for only when asked, since of thousands of answers few headers matter."""
        wanted = name.lower().encode()
        return next((value.decode("latin-1") for key, value in _headers(self.head) if key == wanted), None)


class AnswerReader:
    """Parses the answers that come over one connection, one after the other.

    Attributes:
        reusable: Whether the connection can carry another request after the current answer.
        body: What has come of the current answer's body; a streaming reader may take and clear it.
    """

    def __init__(self, body_cap_bytes: int) -> None:
        self._cap = body_cap_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._begin()

    def _begin(self) -> None:
        self.status: int | None = None
        self._head = b""
        self.body = bytearray()
        self.reusable = True
        self._length: int | None = None
        self._chunked = False
        self._finished = False
        self._cut = False

    def feed(self, data: bytes) -> None:
        """Take bytes from the connection.

        Raises:
            MalformedAnswerError: They are no HTTP answer.
        """
        self._buffer += data
        self._advance()

    def feed_end(self) -> None:
        """Take the end of the connection: it completes a body that has no declared length.

        Raises:
            MalformedAnswerError: The answer was not whole.
        """
        self.reusable = False
        if self.status is None or self._chunked or self._length is not None:
            msg = "the connection ended within an answer"
            raise MalformedAnswerError(msg)
        self._finished = True

    def take(self) -> Answer | None:
        """Return the current answer once it is whole, and make ready for the next one.

        What came beyond it waits: feed nothing (`b""`) to have it parsed.
        """
        if not self._finished or self.status is None:
            return None
        answer = Answer(self.status, bytes(self.body), self._head, cut=self._cut)
        reusable = self.reusable
        self._begin()
        self.reusable = reusable
        return answer

    def _advance(self) -> None:
        while self.status is None:
            if not self._read_head():
                return
        if self._finished:
            return
        if self._chunked:
            self._read_chunks()
        else:
            self._read_plain()

    def _read_head(self) -> bool:
        """Parse status line and headers; True when they were there and the loop goes on."""
        end = self._find_blank_line(0)
        if end < 0 or end > HEAD_LIMIT_BYTES:
            if len(self._buffer) > HEAD_LIMIT_BYTES or not b"HTTP/1.".startswith(bytes(self._buffer[:7])):
                msg = "no HTTP/1.1 answer"
                raise MalformedAnswerError(msg)
            return False
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        framing = _parse_head(head)
        if framing.status < HTTPStatus.OK:
            return True  # an interim answer, 100 or 103: the real one follows
        self._head = head
        self.status, self._length, self._chunked, self.reusable = framing
        return True

    def _find_blank_line(self, start: int) -> int:
        """Return where a head or trailer ends, -1 while it has not; what was searched before is not searched again."""
        end = self._buffer.find(b"\r\n\r\n", max(start, self._searched))
        self._searched = max(len(self._buffer) - 3, 0) if end < 0 else 0
        return end

    def _read_plain(self) -> None:
        wanted = len(self._buffer) if self._length is None else min(len(self._buffer), self._length - len(self.body))
        self._add_body(0, wanted)
        del self._buffer[:wanted]
        if self._length is not None and len(self.body) >= self._length:
            self._finished = True

    def _read_chunks(self) -> None:
        buffer, position = self._buffer, 0
        while not self._finished:
            line_end = buffer.find(b"\r\n", position, position + _CHUNK_LINE_LIMIT_BYTES)
            if line_end < 0:
                if len(buffer) - position >= _CHUNK_LINE_LIMIT_BYTES:
                    msg = "a chunk's size line never ends"
                    raise MalformedAnswerError(msg)
                break
            size = _parse_chunk_size(bytes(buffer[position:line_end]))
            start = line_end + 2
            if size == 0:
                position = self._end_chunks(start, position)
                break
            if len(buffer) < start + size + 2:
                self._check_room(start, size)
                break
            self._add_body(start, start + size)
            position = start + size + 2
        del buffer[:position]
        self._searched = max(self._searched - position, 0)

    def _end_chunks(self, start: int, position: int) -> int:
        """Skip the trailer after the last chunk; return up to where the buffer is used."""
        if self._buffer.startswith(b"\r\n", start):
            self._finished = True
            return start + 2
        end = self._find_blank_line(start)
        if end < 0:
            if len(self._buffer) - start > HEAD_LIMIT_BYTES:
                msg = "the trailer never ends"
                raise MalformedAnswerError(msg)
            return position
        self._finished = True
        return end + 4

    def _check_room(self, start: int, size: int) -> None:
        """Cut at once when a chunk that is still coming would pass the cap, so that it is never held whole."""
        if len(self.body) + size > self._cap:
            self._add_body(start, len(self._buffer))
            self._finish_cut()

    def _add_body(self, start: int, end: int) -> None:
        room = self._cap - len(self.body)
        if end - start > room:
            self.body += self._buffer[start : start + room]
            self._finish_cut()
        else:
            self.body += self._buffer[start:end]

    def _finish_cut(self) -> None:
        self._cut = True
        self._finished = True
        self.reusable = False


class _Framing(NamedTuple):
    status: int
    length: int | None
    chunked: bool
    reusable: bool


@lru_cache(maxsize=64)
def _parse_head(head: bytes) -> _Framing:
    """Read what a head says about its body; hundreds of answers of one second have the same one."""
    status = _parse_status(head)
    headers = {name: value.lower() for name, value in _headers(head)}
    reusable = head.startswith(b"HTTP/1.1") and b"close" not in headers.get(b"connection", b"")
    chunked = b"chunked" in headers.get(b"transfer-encoding", b"")
    declared = headers.get(b"content-length")
    if status in _NO_BODY:
        return _Framing(status, 0, chunked=False, reusable=reusable)
    if chunked:
        return _Framing(status, None, chunked, reusable)
    if declared is None:
        return _Framing(status, None, chunked, reusable=False)  # the body ends with the connection
    if not declared.isdigit() or len(declared) > _LENGTH_DIGITS:
        msg = "the declared length is no number"
        raise MalformedAnswerError(msg)
    return _Framing(status, int(declared), chunked, reusable)


def _parse_status(head: bytes) -> int:
    """Read the status from "HTTP/1.1 200 OK"."""
    line = head.partition(b"\r\n")[0]
    digits = line[len("HTTP/1.1 ") : _STATUS_END]
    well_formed = line.startswith(_VERSIONS) and line[8:9] == b" " and line[_STATUS_END:][:1] in (b"", b" ")
    if not well_formed or not digits.isdigit() or len(digits) != 3 or digits[0] not in b"12345":  # noqa: PLR2004
        msg = "no HTTP/1.1 status line"
        raise MalformedAnswerError(msg)
    return int(digits)


def _headers(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield names in lower case and values; a line without a colon is none."""
    for line in head.split(b"\r\n")[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            yield name.rstrip(b" \t").lower(), value.strip()


def _parse_chunk_size(line: bytes) -> int:
    digits = line.split(b";", 1)[0].strip()
    if not 0 < len(digits) <= _CHUNK_SIZE_DIGITS or digits.strip(_HEX_DIGITS):
        msg = "a chunk's size is no number"
        raise MalformedAnswerError(msg)
    return int(digits, 16)
