"""Calls of tools in the text of a model that has no other way to call them: fenced blocks, as Markdown has them.

    ```tool_call
    {"tool": "diagnose_container", "arguments": {"container_id": "api"}}
    ```

A block within another one is quoted, and no call.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_core import from_json

from bcon_exporter.errors import BconError, InvalidInputError
from bcon_exporter.secrets.cleaning import clean_name

MAX_CALLS = 20
MAX_BYTES = 64 * 1024
CALL, RESULT = "tool_call", "tool_result"
_FENCE_MARKS = "`~"
_LEAST_MARKS = 3
_MOST_INDENTED = 3
_FIELDS = ("tool", "arguments")


class ToolCall(NamedTuple):
    """A call that a block asks for."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallBlock:
    """A block.

    Attributes:
        line: Where it begins, counted from 1.
        call: What it asks for; an error where that cannot be read.
    """

    line: int
    call: ToolCall | BconError


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a model wrote.

    Attributes:
        quoted: Lines at which blocks begin that look like calls, but stand within a block of another kind.
    """

    blocks: tuple[CallBlock, ...]
    quoted: tuple[int, ...]


class _Fence(NamedTuple):
    """A line that begins or ends a block: its marks, and what stands behind them."""

    mark: str
    length: int
    info: str

    @property
    def is_call(self) -> bool:
        return self.info.split(maxsplit=1)[:1] == [CALL]

    def ends(self, opening: "_Fence") -> bool:
        return not self.info and self.mark == opening.mark and self.length >= opening.length


def read_transcript(text: str) -> Transcript:
    """Return the calls in a text, the first 20 of them; each further one is an error."""
    blocks: list[CallBlock] = []
    quoted: list[int] = []
    for opening, line, body, closed, inner in _split(text):
        if opening.is_call:
            blocks.append(CallBlock(line, _read_call(body, line, inner, closed=closed, number=len(blocks) + 1)))
        else:
            quoted += inner
    return Transcript(tuple(blocks), tuple(quoted))


def fence(body: str) -> str:
    """Return the block of a result; its marks are more than any that follow one another in it."""
    longest = max((len(run) for run in _runs_of_marks(body)), default=0)
    marks = "`" * max(_LEAST_MARKS, longest + 1)
    return f"{marks}{RESULT}\n{body.rstrip()}\n{marks}\n"


def _split(text: str) -> Iterator[tuple[_Fence, int, list[str], bool, list[int]]]:
    """Yield each block: its fence, its line, its body, whether it is closed, and where calls begin within it."""
    opening: _Fence | None = None
    began, body, inner = 0, list[str](), list[int]()
    for number, line in enumerate(text.splitlines(), start=1):
        found = _read_fence(line)
        if opening is None:
            if found is not None:
                opening, began, body, inner = found, number, [], []
        elif found is not None and found.ends(opening):
            yield opening, began, body, True, inner
            opening = None
        else:
            body.append(line)
            inner += [number] if found is not None and found.is_call else []
    if opening is not None:
        yield opening, began, body, False, inner


def _read_fence(line: str) -> _Fence | None:
    text = line.lstrip(" ")
    mark = text[:1]
    rest = text.lstrip(mark) if mark and mark in _FENCE_MARKS else text
    length = len(text) - len(rest)
    if length < _LEAST_MARKS or len(line) - len(text) > _MOST_INDENTED or (mark == "`" and "`" in rest):
        return None
    return _Fence(mark, length, rest.strip())


def _read_call(body: list[str], line: int, inner: list[int], *, closed: bool, number: int) -> ToolCall | BconError:
    if number > MAX_CALLS:
        msg = f"line {line}: this is call {number}, and only the first {MAX_CALLS} are run; send it again by itself"
        return _refuse(msg, line)
    if inner:
        msg = f"line {line}: line {inner[0]} begins another block within this one; end each with a line of ```"
        return _refuse(msg, line)
    if not closed:
        return _refuse(f"line {line}: the block is not ended by a line of ```", line)
    try:
        value = from_json("\n".join(body), allow_inf_nan=False)
    except ValueError as error:
        return _refuse(f"line {line}: the block is not JSON: {str(error)[:120]} of the block", line)
    return _check_fields(value, line)


def _check_fields(value: Any, line: int) -> ToolCall | BconError:
    if not isinstance(value, dict):
        return _refuse(f'line {line}: the block must hold an object: {{"tool": "...", "arguments": {{...}}}}', line)
    unknown = sorted(clean_name(name)[:64] for name in value if name not in _FIELDS)
    if unknown:
        return _refuse(f"line {line}: unknown field {unknown[0]!r}; a call has tool and arguments", line)
    tool, arguments = value.get("tool"), value.get("arguments")
    if not isinstance(tool, str):
        return _refuse(f"line {line}: tool must be the name of one", line)
    if not isinstance(arguments, dict | None):
        return _refuse(f"line {line}: arguments must be an object", line)
    return ToolCall(tool, arguments or {})


def _refuse(message: str, line: int) -> BconError:
    return InvalidInputError(message, {"line": line})


def _runs_of_marks(text: str) -> list[str]:
    return [run for run in "".join(char if char == "`" else " " for char in text).split() if run]
