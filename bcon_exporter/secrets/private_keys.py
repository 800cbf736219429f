"""Masks private keys, over several lines or in one line with escaped line ends; certificates and public keys stay.

A log is read in parts, so a key may lack its first or its last line. Lines of nothing but base64 are therefore taken
for a key, except after the first line of a certificate.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import re2

from bcon_exporter.secrets.following_lines import split_prefix
from bcon_exporter.secrets.issuer_tokens import MASK, MOST_MATCHES

BLOCK_TRIGGER = r"(?m)-----?[ ]?(?:BEGIN|END) |\$ANSIBLE_VAULT;|Private-Lines: [0-9]|\b[A-Za-z0-9+/]{32,}={0,2}(?:\\[nr]|[\"',;+ \t])*$"

_MARK = re2.compile(r"-----?[ ]?(BEGIN|END) ([A-Za-z0-9 .\-]{0,40}?)[ ]?-----?")
# One line of a block: base64, a header of the old encrypted form, a checksum, or empty.
_BODY_LINE = re2.compile(
    r"^[ \t>|\"'+,]*(?:[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4}|[A-Za-z\-]{2,32}: .*|\*\*\*|)(?:\\+[nr])*[\"',;+\\ \t]*$"
)
_VAULT = "$ANSIBLE_VAULT;"
_VAULT_LINE = re2.compile(r"^[ \t]*[0-9a-f]{2,80}[ \t]*$")
_PUTTY = re2.compile(r"Private-Lines: ([0-9]{1,3})[ \t]*$")
_REST_OF_LINE = re2.compile(r"^(?:[A-Za-z0-9+/=\s]|\\+[rn]|\*\*\*)*")
_BASE64_LINE = re2.compile(r"^[ \t>|\"'+,]*([A-Za-z0-9+/]{32,}={0,2})(?:\\+[nr])*[\"',;+\\ \t]*$")
_LONGEST_HEAD = 160
_DIGITS = str.maketrans("123456789", "000000000")
_WIDE = 64
"""The least width of PEM lines. One line so long is taken for a key; of narrower ones it takes two."""


def mask_key_blocks(lines: Sequence[str], suspects: Sequence[int]) -> list[str]:
    """Replace every private key by `***`, line for line; one without its end as far as it goes.

    Args:
        lines: All lines of a text.
        suspects: The numbers of those with a marker or a run of base64 (`BLOCK_TRIGGER`).
    """
    masked, public = list(lines), set[int]()
    if any("---" in lines[number] for number in suspects):
        masked, public = _mask_marked(lines)
    for number in suspects:
        if _VAULT in lines[number]:
            _mask_vault(masked, number + 1)
        elif (putty := _PUTTY.search(masked[number])) is not None:  # a masked line announces nothing
            _mask_next(masked, number + 1, int(putty.group(1)))
    return _mask_unmarked(masked, [number for number in suspects if number not in public], public)


def _mask_vault(lines: list[str], start: int) -> None:
    """Mask what Ansible has encrypted: a weak password is quickly guessed."""
    for number in range(start, len(lines)):
        prefix, body = split_prefix(lines[number])
        if not _VAULT_LINE.search(body):
            return
        lines[number] = prefix + MASK


def _mask_next(lines: list[str], start: int, count: int) -> None:
    """Mask the private half of a PuTTY key, which states its number of lines."""
    for number in range(start, min(len(lines), start + count)):
        lines[number] = split_prefix(lines[number])[0] + MASK


def _is_private(name: str) -> bool:
    upper = name.upper()
    return "PRIVATE KEY" in upper or "STATIC KEY" in upper or "TLS-CRYPT" in upper


def _mask_marked(lines: Sequence[str]) -> tuple[list[str], set[int]]:
    """Mask blocks between markers; return the lines, and which of them belong to a block that is no secret."""
    masked: list[str] = []
    public: set[int] = set()
    state = head = ""
    for number, line in enumerate(lines):
        marks = list(islice(_MARK.finditer(line), MOST_MATCHES)) if "---" in line else []
        if len(marks) == MOST_MATCHES:
            masked.append(line[: marks[0].start()] + MASK)
            state = ""
            continue
        if marks:
            _mask_headless(masked, marks[0], state)
            text, state = _mask_marks(line, marks, state)
            head = line[: marks[-1].start()]
            masked.append(text)
            continue
        prefix, body = _split_head(line, head) if state else ("", "")
        if state and not _BODY_LINE.search(body):
            state = ""
        if state == "private":
            masked.append(prefix + MASK)
            continue
        if state == "public":
            public.add(number)
        masked.append(line)
    return masked, public


def _split_head(line: str, head: str) -> tuple[str, str]:
    """Return what a logger writes before each line, and the line; `head` is what stood before BEGIN, with other digits."""
    if head and len(head) <= _LONGEST_HEAD and _shape(line[: len(head)]) == _shape(head):
        return line[: len(head)], line[len(head) :]
    return split_prefix(line)


def _shape(text: str) -> str:
    return text.translate(_DIGITS)


def _mask_marks(line: str, marks: Sequence[Any], state: str) -> tuple[str, str]:
    """Mask the blocks of one line that has markers; return it and what it leaves open: "private", "public" or ""."""
    done: list[str] = []
    position = 0
    for mark in marks:
        private = _is_private(mark.group(2))
        if mark.group(1) == "BEGIN":
            between = line[position : mark.start()]
            done.append(_mask_open(between)[0] if state == "private" else between)
            done.append(MASK if private else mark.group())
            state = "private" if private else "public"
        elif private:
            # What stands before an END belongs to its block, though its BEGIN may have been cut off.
            head = "" if state == "private" or position else split_prefix(line)[0]
            done.append(head + MASK)
            state = ""
        else:
            done.append(line[position : mark.end()])
            state = ""
        position = mark.end()
    rest, whole = _mask_open(line[position:]) if state == "private" else (line[position:], not line[position:].strip())
    return _join_masks([*done, rest]), state if whole else ""


def _join_masks(parts: Sequence[str]) -> str:
    text = "".join(parts)
    while MASK + MASK in text:
        text = text.replace(MASK + MASK, MASK)
    return text


def _mask_open(text: str) -> tuple[str, bool]:
    """Mask what follows a BEGIN without its END in the line; return also whether it is all of the text."""
    match = _REST_OF_LINE.search(text)
    length = int(match.end()) if match else 0
    tail = text[length:].strip("\"',;+\\ \t")
    return ((MASK if text[:length].strip() else text[:length]) + text[length:]), tail == ""


def _mask_headless(masked: list[str], mark: Any, state: str) -> None:
    """Mask the body lines right before an END whose BEGIN was read earlier."""
    if state == "private" or mark.group(1) != "END" or not _is_private(mark.group(2)):
        return
    for number in range(len(masked) - 1, -1, -1):
        prefix, body = split_prefix(masked[number])
        if MASK in body or not _is_body_word(body):
            return
        masked[number] = prefix + MASK


def _is_body_word(body: str) -> bool:
    """Return whether a line without its prefix is one word of base64, perhaps quoted."""
    word = body.strip(" \t>|\"'+,;")
    return word != "" and " " not in word and bool(_BODY_LINE.search(body))


def _mask_unmarked(lines: list[str], suspects: Sequence[int], public: set[int]) -> list[str]:
    """Mask lines of key material without any marker, with the shorter line that ends them."""
    widths = {number: _key_width(lines[number]) for number in suspects}
    keys = [
        number
        for number, width in widths.items()
        if width >= _WIDE or (width and width in (widths.get(number - 1), widths.get(number + 1)))
    ]
    ends = {number + 1 for number in keys}.difference(keys, public, (len(lines),))
    for number in (*keys, *ends):
        prefix, body = split_prefix(lines[number])
        if number not in ends or _is_body_word(body):
            lines[number] = prefix + MASK
    return lines


def _key_width(line: str) -> int:
    """Return how wide a line of nothing but base64 is, 0 for other lines and for digests."""
    if len(line) < 32 or line.islower() or line.isupper():
        return 0  # a digest, of which there are many
    match = _BASE64_LINE.search(split_prefix(line)[1])
    if match is None:
        return 0
    text = str(match.group(1))
    mixed = any(map(str.islower, text)) and any(map(str.isupper, text)) and any(map(str.isdigit, text))
    return len(text) if mixed else 0
