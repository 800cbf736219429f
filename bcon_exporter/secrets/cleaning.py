r"""Text from outside, made safe to show: no terminal control, no invisible or direction-changing characters.

Terminal sequences are removed; other characters that act instead of show become visible escapes such as `\x00` or
`\u202e`. Line feed and tab stay in text, and become escapes in names. All functions are idempotent and take time in
proportion to the text, whatever stands in it: they see labels, logs and names that anybody may have written.

Order everywhere: cut at `MAX_INPUT_CHARS`, clean, mask, clip for show (a secret cut in half would no longer be
recognised). Fingerprints are taken over the whole raw value.
"""

ELLIPSIS = "…"
MAX_NAME_CHARS = 255
MAX_INPUT_CHARS = 256 * 1024
MAX_SHOWN_CHARS = 16 * 1024

_STRING_INTRODUCERS = "]PX^_"
_PARAMETERS = "0123456789:;<=>?"
_INTERMEDIATES = " !\"#$%&'()*+,-./"
_EIGHT_BIT_FORMS = {
    0x90: "\x1bP",
    0x98: "\x1bX",
    0x9B: "\x1b[",
    0x9C: "\x1b\\",
    0x9D: "\x1b]",
    0x9E: "\x1b^",
    0x9F: "\x1b_",
}
"""The 8-bit controls that begin or end a sequence, in their 7-bit form (ECMA-48)."""
_EIGHT_BIT_CONTROLS = tuple(map(chr, _EIGHT_BIT_FORMS))
_ACTING_RANGES = (
    *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD)),  # C0 and C1 controls, soft hyphen
    *((0x061C, 0x061C), (0x180E, 0x180E), (0x200B, 0x200B), (0x200E, 0x200F)),  # zero-width and bidi marks
    *((0x2028, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF)),  # line and paragraph separators, bidi, invisible operators
    *((0xD800, 0xDFFF), (0xFFF9, 0xFFFB), (0xFFFE, 0xFFFF)),  # lone surrogates, annotations, no characters
    (0xE0000, 0xE007F),  # tags
)


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_ESCAPES = {code: _escape(code) for first, last in _ACTING_RANGES for code in range(first, last + 1)}


def strip_controls(raw: str) -> str:
    """Return the text without terminal sequences and with acting characters escaped.

    What stands beyond `MAX_INPUT_CHARS` is dropped (see `cut_input`).
    """
    text = cut_input(raw)
    if text.isprintable():
        return text
    if not text.isascii() and any(control in text for control in _EIGHT_BIT_CONTROLS):
        text = text.translate(_EIGHT_BIT_FORMS)
    if "\x1b" in text:
        text = _remove_sequences(text)
    if "\r" in text:
        text = "\n".join([line.rstrip("\r") for line in text.split("\n")])
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = text.translate(_ESCAPES)
    return cut_input(text)  # escapes are longer than what they stand for


def cut_input(raw: str) -> str:
    """Return at most `MAX_INPUT_CHARS`: whole lines, of a single line whole words, so that no secret is cut in half."""
    if len(raw) <= MAX_INPUT_CHARS:
        return raw
    head = raw[: MAX_INPUT_CHARS - 1]
    end = head.rfind("\n")
    if end < 0:
        end = max(head.rfind(" "), head.rfind("\t"))
    return head[: end + 1] + ELLIPSIS


def _remove_sequences(text: str) -> str:
    """Remove what a terminal would obey: from each ESC on, with the bytes that belong to it."""
    first, *parts = text.split("\x1b")
    kept = [first]
    following = (*parts[1:], "")
    for part, after in zip(parts, following, strict=True):
        kept.append(_remove_beginning(part, ends_string=after[:1] == "\\") if part else "\x1b")
    return "".join(kept)


def _remove_beginning(part: str, *, ends_string: bool) -> str:
    r"""Return what is shown of the text between an ESC and the next.

    Args:
        part: Begins after the ESC; not empty.
        ends_string: Whether `ESC \` follows it.
    """
    introducer = part[0]
    if introducer == "[":
        rest = part[1:].lstrip(_PARAMETERS).lstrip(_INTERMEDIATES)
        return rest[1:] if "@" <= rest[:1] <= "~" else part[1:]
    if introducer in _STRING_INTRODUCERS:
        line, line_feed, _ = part.partition("\n")
        end = line.find("\x07")
        if end >= 0:
            return part[end + 1 :]
        return "" if ends_string and not line_feed else part[1:]
    rest = part.lstrip(_INTERMEDIATES)
    return rest[1:] if "0" <= rest[:1] <= "~" else f"\x1b{part}"


def clip_text(text: str, max_chars: int) -> str:
    """Cut to at most `max_chars` characters, the last of them then an ellipsis."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + ELLIPSIS


def clean_text(raw: str, *, max_chars: int = MAX_SHOWN_CHARS) -> str:
    """Clean and clip text that may have several lines and holds no secret (mask before clipping otherwise)."""
    return clip_text(strip_controls(raw), max_chars)


def clean_line(raw: str) -> str:
    """Clean text into one line: line feed and tab become escapes too; never clipped for show."""
    if raw.isprintable() and len(raw) <= MAX_INPUT_CHARS:
        return raw
    return cut_input(strip_controls(raw).replace("\n", "\\x0a").replace("\t", "\\x09"))


def clean_name(raw: str) -> str:
    """Clean and clip a name, key or id: always one line. One that may hold a secret is for `masking.safe_name`."""
    return clip_text(clean_line(raw), MAX_NAME_CHARS)
