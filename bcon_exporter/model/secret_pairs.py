"""Secrets that stand after their name: key=value, "key": "value", key => value.

One walk over the heads ("key=") of a line, so that a line of ten thousand pairs costs no more than it is long.
"""

import re
from typing import Any

import re2

from bcon_exporter.model.secret_keys import key_strength
from bcon_exporter.model.secret_prose import PROSE_ENDS, is_message
from bcon_exporter.model.secret_shapes import MASK, MOST_MATCHES, looks_random

_WORDS = (
    r"pass|password|passwords|passwd|passphrase|passcode|pwd|pw|psw|pswd|secret|secrets|token|tokens|cred|creds|"
    r"credential|credentials|dsn|auth|authorization|key|keys|pat|salt|pepper|sessionid|sessid|session|sid|otp|totp|"
    r"sig|signature|nonce|csrf|xsrf|cvv|pin|unseal|string|connstr|cookie|webhook|masterauth"
)
# A word of those, alone or as the end of a word ("dbpassword"), then perhaps more words ("token_value", "tokenValue").
_TAIL = r"[0-9]*(?:[_.\-A-Z][A-Za-z0-9_.\-]*)?"
KEY = rf"[A-Za-z0-9_.\-]*(?i:{_WORDS}){_TAIL}"
HEAD = rf"({KEY})((?:\\*[\"'])?\]?[ \t]*(?:=>|:=|==|=|:)[ \t]*)"
_HEAD = re2.compile(HEAD)
_QUOTED = re.compile(
    r"""\\+"(?:[^"\\\n]|\\+[^"\\\n])*\\*"|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?""",
)
_STOP = re.compile(r"[\s\"'&,;]")
_NEXT_PAIR = re.compile(r"[\\\"' {]{0,4}[\w.-]{1,64}[=:\\\"]")
_CALL = re.compile(r"[a-z][a-z_-]{2,31}\([^()\s]*\)")
"""What dovecot's "auth: passwd-file(bob,192.0.2.9): " looks like, and no generated value."""
_MOST_NAMES = 5 * MOST_MATCHES
_PEEK_CHARS = 256
"""So much of a value tells whether it looks random."""

_EMPTY_VALUES = frozenset(("", "null", "none", "nil", "true", "false", "undefined", "yes", "no", "on", "off", MASK))
_PLACEHOLDERS = ("${", "$(", "{{", "%(")
_SHORT_KEYS = frozenset(("pass", "key", "pat", "pw", "otp", "cookie", "token"))
_QUOTES = ('"', "'", "\\")


def mask_pairs(line: str) -> str:
    """Return the line with the value of every secret name masked; after very many names, the rest of it."""
    done: list[str] = []
    position = 0
    secret = 0
    for count, match in enumerate(_HEAD.finditer(line)):
        start = match.end()
        if count >= _MOST_NAMES or secret >= MOST_MATCHES:
            done += [line[position:start], MASK]
            position = len(line)
        if position == len(line):
            break
        if match.start() < position:
            continue
        strength = key_strength(match.group(1))
        secret += strength != "no"
        if (
            strength == "no"
            or start >= len(line)
            or line.startswith(_PLACEHOLDERS, start)
            or _is_user_list(line, match)
        ):
            continue
        found = _find_value(line, start, weak=strength == "weak", key=match.group(1), middle=match.group(2))
        if found is not None:
            done += [line[position : found[0]], MASK]
            position = found[1]
    return "".join(done) + line[position:] if done else line


def _is_user_list(line: str, match: Any) -> bool:
    """Return whether the name is the system's list of users, which holds no password since shadow files hold them."""
    return str(match.group(1)) == "passwd" and line.endswith("/etc/", 0, match.start(1))


def _find_value(line: str, start: int, *, weak: bool, key: str, middle: str) -> tuple[int, int] | None:
    """Return where the value stands that is to be masked, without its quotes; None when it may stay."""
    quoted = line.startswith(_QUOTES, start) and _QUOTED.match(line, start, start + _PEEK_CHARS if weak else len(line))
    if quoted:
        text = quoted.group()
        quote = "'" if text[0] == "'" else text[: len(text) - len(text.lstrip('\\"'))]
        first = start + len(quote)
        closed = text.endswith(quote) and len(text) >= 2 * len(quote)
        last = start + len(text) - (len(quote) if closed else 0)
        if _keeps(key, line[first:last], weak=weak):
            return None
        if weak and quoted.end() == start + _PEEK_CHARS:
            return _find_value(line, start, weak=False, key="password", middle=middle)
        return first, last
    last = _find_end(line, start, start + _PEEK_CHARS if weak else len(line))
    if last == start or _keeps(key, line[start:last], weak=weak):
        return None
    in_prose = ":" in middle or middle != middle.strip()
    if in_prose and (_CALL.match(line, start) if weak else is_message(line, start, line[start:last])):
        return None
    return start, _find_end(line, start, len(line)) if weak else last


def _find_end(line: str, start: int, limit: int) -> int:
    """Return where an unquoted value ends: at a blank or quote, before the next key=value, or closing punctuation."""
    end = min(limit, len(line))
    for match in _STOP.finditer(line, start, end):
        if match.group() not in ",;" or _NEXT_PAIR.match(line, match.end()):
            end = match.start()
            if match.group() in "&,;":
                return end
            break
    return start + (len(line[start:end].rstrip(PROSE_ENDS)) or end - start)


def _keeps(key: str, value: str, *, weak: bool) -> bool:
    """Return whether a value under a key may stand."""
    low = value.lower()
    if low in _EMPTY_VALUES or value.strip("*•xX.<>[]") == "" or value.startswith(_PLACEHOLDERS):
        return True
    if weak:
        return not looks_random(value)
    return value.isdigit() and len(value) <= 3 and key.lower() in _SHORT_KEYS  # noqa: PLR2004 - a count ("pass: 12")
