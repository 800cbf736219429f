"""Private keys that span lines or stand in one with escaped line ends; certificates and public keys stay."""

from itertools import islice

import re2

from bcon_exporter.model.secret_shapes import MASK, MOST_MATCHES

KEY_BLOCK_TRIGGER = r"-----BEGIN |-----END |\b[A-Za-z0-9+/]{64}(?:\n|$)"

_BEGIN = re2.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_END = re2.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
# One line of a block: base64, a header of the old encrypted form, or empty.
_BODY_LINE = re2.compile(r"^[ \t>|]*(?:[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4}|[A-Za-z\-]+: .*|)(?:\\n)?[\"',]*[ \t]*$")
_REST_OF_LINE = re2.compile(r"^(?:[A-Za-z0-9+/=\s]|\\+[rn]|\*\*\*)*")
_ORPHAN = re2.compile(r"^[ \t]*[A-Za-z0-9+/]{64,76}[ \t]*$")


def mask_key_blocks(text: str) -> str:
    """Replace every private key by `***`, line for line; one without its end as far as it goes."""
    if "-----BEGIN " in text or "-----END " in text:
        text = _mask_blocks(text)
    if "\n" in text or len(text) >= 64:  # noqa: PLR2004 - the width of PEM lines
        lines = text.split("\n")
        if any(_is_key_line(line) for line in lines):
            return "\n".join(_mask_orphans(lines))
    return text


def _mask_blocks(text: str) -> str:
    begins = [(match.start(), match.end()) for match in islice(_BEGIN.finditer(text), MOST_MATCHES)]
    ends = [match.end() for match in islice(_END.finditer(text), MOST_MATCHES)]
    if MOST_MATCHES in (len(begins), len(ends)):
        first = text.find("-----")
        return text[:first] + _masked_lines(text[first:])
    done: list[str] = []
    position = 0
    for i, (start, body) in enumerate(begins):
        next_start = begins[i + 1][0] if i + 1 < len(begins) else len(text)
        while ends and ends[0] <= body:
            ends.pop(0)
        stop = ends[0] if ends and ends[0] <= next_start else body + _open_length(text[body:next_start])
        done += [text[position:start], _masked_lines(text[start:stop])]
        position = stop
    return "".join(done) + _mask_headless(text[position:])


def _masked_lines(text: str) -> str:
    return "\n".join([MASK] * (1 + text.count("\n")))


def _open_length(body: str) -> int:
    """Return how many characters after a BEGIN without END belong to the block."""
    first, *others = body.split("\n")
    match = _REST_OF_LINE.search(first)
    length = int(match.end()) if match else 0
    if length < len(first):
        return length
    for line in others:
        if not _BODY_LINE.search(line):
            break
        length += 1 + len(line)
    return length


def _mask_headless(text: str) -> str:
    """Mask blocks whose BEGIN is cut off: the body lines right before an END."""
    done: list[str] = []
    position = 0
    for end in _END.finditer(text):
        lines = text[position : end.start()].split("\n")
        last = len(lines) - 1
        while last >= 0 and lines[last] != MASK and (last == len(lines) - 1 or _is_body(lines[last])):
            lines[last] = MASK
            last -= 1
        done.append("\n".join(lines))
        position = end.end()
    return "".join(done) + text[position:]


def _is_body(line: str) -> bool:
    return bool(line) and " " not in line and bool(_BODY_LINE.search(line))


def _is_key_line(line: str) -> bool:
    """Return whether a whole line is base64 of PEM width, and no hexadecimal digest."""
    if not 64 <= len(line.strip()) <= 76 or not _ORPHAN.search(line):  # noqa: PLR2004 - PEM and MIME widths
        return False
    return any(c.islower() for c in line) and any(c.isupper() for c in line) and any(c.isdigit() for c in line)


def _mask_orphans(lines: list[str]) -> list[str]:
    """Mask lines of key material whose BEGIN was read earlier, with the shorter line that ends them."""
    masked: list[str] = []
    inside = False
    for line in lines:
        key_line = _is_key_line(line)
        last = inside and not key_line and line.strip() != "" and " " not in line.strip() and _is_body(line)
        masked.append(MASK if key_line or last else line)
        inside = key_line
    return masked
