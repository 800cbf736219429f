"""Proves one pattern: it compiles, finds its examples, leaves its look-alikes alone, and is fast on hostile text."""

from typing import Any

import re2

from bcon_exporter import clock
from bcon_exporter.model.signatures import SignaturePattern
from bcon_exporter.regexes import compile_pattern

HOSTILE_BYTES = 64 * 1024
MAX_SECONDS = 0.005
MAX_PROGRAM = 5_000
ATTEMPTS = 5


def find_flaw(pattern: SignaturePattern) -> str | None:
    """Say in one clause what is wrong with `pattern`, None when nothing is."""
    return find_mistake(pattern) or _slowness(pattern)


def find_flaw_of_end(lasts_until: str) -> str | None:
    """Say what is wrong with the expression of the lines that end a final word, None when nothing is."""
    example = lasts_until.replace("{subject}", r"\S+")
    try:
        compiled = compile_pattern(example)
    except re2.error as error:
        return f"not an RE2 expression: {_tell(error)}"
    if compiled.search(b"") is not None:
        return "it matches an empty line"
    return "it is too large; avoid counted repeats" if compiled.programsize > MAX_PROGRAM else None


def _tell(error: re2.error) -> str:
    reason = error.args[0] if error.args else "not valid"
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def find_mistake(pattern: SignaturePattern) -> str | None:
    """Say what is wrong with `pattern` on any machine, however fast it is."""
    try:
        compiled = compile_pattern(pattern.regex)
        unless = compile_pattern(pattern.unless) if pattern.unless is not None else None
    except re2.error as error:
        return f"not an RE2 expression: {_tell(error)}"
    if any(one is not None and one.search(b"") is not None for one in (compiled, unless)):
        return "it matches an empty line"
    if set(compiled.groupindex) - {b"peer", b"other", b"subject"}:
        return "the only named groups allowed are `peer`, `other` and `subject`"
    if any(one is not None and one.programsize > MAX_PROGRAM for one in (compiled, unless)):
        return "it is too large; avoid counted repeats"
    return _wrong_example(pattern, compiled, unless)


def _wrong_example(pattern: SignaturePattern, compiled: Any, unless: Any) -> str | None:
    def finds(text: str) -> bool:
        line = _encode(text)
        return compiled.search(line) is not None and (unless is None or unless.search(line) is None)

    for number, example in enumerate(pattern.matches):
        if not finds(example):
            return f"it does not find its example {number + 1} of `matches`"
    for number, example in enumerate(pattern.ignores):
        if finds(example):
            return f"it finds line {number + 1} of `ignores`"
    return None


def _slowness(pattern: SignaturePattern) -> str | None:
    slowest = slowest_seconds(pattern)
    if slowest <= MAX_SECONDS:
        return None
    return f"it takes {slowest * 1000:.0f} ms on a 64 KiB line; at most {MAX_SECONDS * 1000:.0f} ms are allowed"


def hostile_lines(pattern: SignaturePattern) -> list[bytes]:
    """Lines of 64 KiB that almost match: examples without their ends or beginnings, over and over, and plain floods."""
    pieces = [b"a", b" ", b"1", b"error: ", b"/", b'"']
    for example in pattern.matches[:3]:
        raw = _encode(example)
        pieces += [raw[: len(raw) // 2], raw[len(raw) // 2 :], raw[:-1], raw[1:]]
    return [(piece * (HOSTILE_BYTES // len(piece) + 1))[:HOSTILE_BYTES] for piece in pieces if piece]


def slowest_seconds(pattern: SignaturePattern) -> float:
    """CPU seconds that the slowest hostile line takes, each at its best of a few attempts (the machine may be busy)."""
    expressions = [compile_pattern(regex) for regex in (pattern.regex, pattern.unless) if regex is not None]
    slowest = 0.0
    for text in hostile_lines(pattern):
        best = float("inf")
        for _ in range(ATTEMPTS):
            started = clock.thread_cpu_seconds()
            for compiled in expressions:
                compiled.search(text)
            best = min(best, clock.thread_cpu_seconds() - started)
            if best <= max(slowest, MAX_SECONDS / 4):
                break
        slowest = max(slowest, best)
    return slowest


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")
