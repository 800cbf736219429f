r"""Text from outside, made safe to show: no terminal control, no invisible or direction-changing characters.

Terminal sequences are removed; other characters that act instead of show become visible escapes such as `\x00` or
`\u202e`. Line feed and tab stay in text, and become escapes in names. All functions are idempotent.

Order everywhere: clean, then mask, then clip (a secret cut in half would no longer be recognised).
"""

import re

ELLIPSIS = "…"
MAX_NAME_CHARS = 255

# CSI, OSC/DCS/APC/PM/SOS strings and two-character escapes, in 7-bit and 8-bit form (ECMA-48).
_TERMINAL = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-~]"
)
# C0 and C1 controls, soft hyphen, zero-width and bidi marks, line and paragraph separators, tags, lone surrogates.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_END = re.compile("\r+\n")
_LINE_BREAK_OR_TAB = re.compile("[\t\n]")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:  # noqa: PLR2004 - the widths of Python's own escapes
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - as above


def strip_controls(raw: str) -> str:
    """Return the text without terminal sequences and with acting characters escaped; never clipped."""
    if raw.isprintable():
        return raw
    text = _LINE_END.sub("\n", raw)
    if "\x1b" in text or not text.isascii():
        text = _TERMINAL.sub("", text)
    return _ACTING.sub(_escape, text.rstrip("\r"))


def clip_text(text: str, max_chars: int) -> str:
    """Cut to at most `max_chars` characters, the last of them then an ellipsis."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + ELLIPSIS


def clean_text(raw: str, *, max_chars: int = 4096) -> str:
    """Clean and clip text that may have several lines and holds no secret (mask before clipping otherwise)."""
    return clip_text(strip_controls(raw), max_chars)


def clean_name(raw: str) -> str:
    """Clean and clip a name, key or id: always one line."""
    if raw.isprintable() and len(raw) <= MAX_NAME_CHARS:
        return raw
    return clip_text(_LINE_BREAK_OR_TAB.sub(_escape, strip_controls(raw)), MAX_NAME_CHARS)
