"""Masks secrets that stand after their name: key=value, "key": "value", key => value, also lists and maps of values.

The heads ("key=") of a line are walked once, so the time is linear in the line's length.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2

from bcon_exporter.secrets.escapes import mask_spans, read_escapes, written_spans
from bcon_exporter.secrets.issuer_tokens import MASK, MOST_MATCHES
from bcon_exporter.secrets.prose_or_secret import PROSE_ENDS, is_message, is_plain, is_sentence
from bcon_exporter.secrets.secret_names import Strength, key_strength, words
from bcon_exporter.secrets.shapes import looks_random

_WORDS = (
    r"pass|password|passwords|passwd|passphrase|passcode|pwd|pw|psw|pswd|secret|secrets|token|tokens|cred|creds|"
    r"credential|credentials|dsn|auth|authorization|key|keys|pat|salt|pepper|sessionid|sessid|session|sid|otp|totp|"
    r"sig|signature|nonce|csrf|xsrf|cvv|pin|unseal|string|connstr|cookie|webhook|masterauth|psk|passwort|kennwort|"
    r"encrypt|contrasena|senha|motdepasse|wachtwoord|mnemonic|codes?|phrase|words|stringdata"
)
# A word of those, alone or as the end of a word ("dbpassword"), then perhaps more words ("token_value", "tokenValue").
_TAIL = r"[0-9]*(?:[_.\-A-Z][A-Za-z0-9_.\-]*)?"
KEY = rf"[A-Za-z0-9_.\-]*(?i:{_WORDS}){_TAIL}"
SEPARATOR = r"(?:=>|->|:=|==|=|:: |:|%3[Dd])"
HEAD = rf"({KEY})((?:\\*[\"'])?\]?[ \t]*{SEPARATOR}[ \t]*)"
ESCAPED_HEAD = (
    rf"{KEY}(?:%(?:25)*(?:2[027]|3[AaDd]|5[Cc])|\\+(?:u00|x)(?:2[027]|3[AaDd])"
    r"|&(?:amp;)*(?:quot|apos|#0{0,4}(?:3[49]|58|61)|#[xX]0{0,4}(?:2[27]|3[AaDd]));)"
)
"""A name, then an escape of a quote, a separator or a blank."""
_ESCAPED_HEAD = re2.compile(ESCAPED_HEAD)
_HEAD = re2.compile(HEAD)
_QUOTE_MARK = r"(?:\\*[\"'])?"
# The member of a map under a secret's name that holds the secret itself: {"credentials": {"value": "x"}}.
_HOLDER = re2.compile(
    r"(?i)(?:string|secret|plain|clear|current|default|new|old)?_?"
    r"(?:value|val|data|content|text|plain|raw|string|default|current|previous|hash|key|b64|base64|encoded)"
)
_ABOUT_A_SECRET = words("name id username user login email type kind url uri host endpoint path file created updated")
_MEMBER = re2.compile(rf"([A-Za-z0-9_.\-]+)({_QUOTE_MARK}[ \t]*{SEPARATOR}[ \t]*)")
_BRACED = re2.compile(r"\{([^{}:=\s\"']{4,})\}(?:;|$)")
"""A value in an ODBC connection string, PWD={x;y}."""
_BRACE = re2.compile(r"[{}]")
_NEXT_PAIR = re2.compile(r"[\\\"' {]{0,4}[\w.-]{1,64}[=:\\\"]")
_CALL = re2.compile(r"[a-z][a-z_-]{2,31}\([^()\s]*\)")
"""As in dovecot's "auth: passwd-file(bob,192.0.2.9): "; no generated value looks so."""
_WRAPPER = re2.compile(r"(?:[A-Za-z_][A-Za-z0-9_:.]{0,31}[({] ?|[bBuUrRfF]{1,2}|[@&(]|!![a-z]{1,16} )(?:\\*[\"'])")
"""What stands before a quoted value: Some("x"), b'x', ("x"."""
_FOLDER, _FILE = r"/\.?[A-Za-z][a-z._\-]{1,62}", r"/[A-Za-z0-9._\-]{1,64}"
_PATH = re2.compile(
    r"(?:file://)?(?:/(?:etc|run|var|usr|opt|home|root|app|srv|tmp|mnt|data|secrets|certs?|config|ssl|proc|sys|"
    rf"dev|bin|lib|code|workspace|vault|keys|kaniko)(?:{_FILE})+|(?:~|\.{{1,2}}(?:/\.\.)*)"
    rf"(?:(?:{_FOLDER})+{_FILE}|/[A-Za-z._\-]{{1,64}}|{_FILE}\.[a-z]{{2,5}}))/?"
)
"""After ~ and . only what reads as a path: ~/.ssh/id_ed25519, ./db_password, ../token1.txt, but not ~/000A."""
_ERROR_CLASS = re2.compile(
    r"(?:[A-Za-z_$][A-Za-z0-9_$]{0,63}(?:\.|::)){0,12}[A-Z][A-Za-z]{1,63}(?:Exception|Error|Failure)"
)
"""As in "Could not start a session: java.io.IOException: ..."."""
_MOST_NAMES = 5 * MOST_MATCHES
_PEEK_CHARS = 256
"""Characters of a value that tell whether it looks random."""
_MAP_CHARS = 4096
"""Characters of a map under a secret's name that are looked at."""
_LIST_ITEM_CHARS = 4096
_MOST_STOPS = 64
"""Commas within one value; behind the last, the rest of the word belongs to it."""

_EMPTY_VALUES = words("null none nil true false undefined yes no on off") | {"", MASK}
_LEFT_OUT = words(
    "redacted filtered masked hidden omitted sensitive scrubbed removed protected unknown empty unset missing"
)
"""Words in brackets in place of a value: [FILTERED], <redacted>, (hidden)."""
_PLACEHOLDERS = ("(not set)", "(known after", "(sensitive", "<|", "***@", "${", "$(", "{{", "%(", "<%=", "#{")
_SHORT_KEYS = frozenset(("pass", "key", "pat", "pw", "otp", "cookie", "token"))
_STARTS_A_TEST = ("Test", "test", "Example", "Benchmark")
_ENDS_A_VALUE = frozenset("\"'&,;")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Head:
    """The name before a value, what stands between the two, and whether the name stands for a secret."""

    key: str
    middle: str
    strength: Strength


def mask_pairs(line: str) -> str:
    """Return the line with the value of every secret name masked; after very many names all of the rest.

    A line with a name in escapes is looked at as these are read, too.
    """
    done: list[str] = []
    position = 0
    for first, last in _find_spans(line):
        if first >= position:
            done += [line[position:first], MASK]
            position = last
    line = "".join(done) + line[position:] if done else line
    if _ESCAPED_HEAD.search(line) is None:
        return line
    levels = read_escapes(line)
    return mask_spans(line, written_spans(levels, _find_spans(levels[-1].text))) if levels else line


def _find_spans(line: str) -> Iterator[Span]:
    """Yield where secret values stand, from left to right; the consumer skips what begins within one before it."""
    position = 0
    secret = 0
    for count, match in enumerate(_HEAD.finditer(line)):
        start = match.end()
        if count >= _MOST_NAMES or secret >= MOST_MATCHES:
            if start >= position:
                yield start, len(line)
            return
        if match.start() < position:
            continue
        head = _Head(match.group(1), match.group(2), key_strength(match.group(1)))
        secret += head.strength != "no"
        if head.strength == "no" or start >= len(line) or _names_no_secret(line, match, head):
            continue
        spans, position = _spans_of_value(line, start, head)
        yield from spans
        if position >= len(line):
            return


def _names_no_secret(line: str, match: Any, head: _Head) -> bool:
    """Return whether the name stands for something else: the system's list of users, the result of a test."""
    if head.key == "passwd" and line.endswith("/etc/", 0, match.start(1)):
        return True
    if head.key == "PWD" and line.startswith("/", match.end()):
        return True
    if "arn:" in line[max(0, match.start() - 100) : match.start()]:
        return True
    return head.key == "PASS" and line.startswith(_STARTS_A_TEST, match.end())


def _spans_of_value(line: str, start: int, head: _Head) -> tuple[list[Span], int]:
    """Return what is to be masked of the value at `start` (itself, items of a list, holders of a map), and where to go on."""
    if _is_placeholder(line, start):
        return [], start
    if line.startswith("[", start):
        return _spans_of_list(line, start + 1, weak=head.strength == "weak")
    if line.startswith("{", start) and head.strength == "strong":
        braced = _BRACED.match(line[start : start + _PEEK_CHARS])
        if braced is not None and not braced.group(1).replace("_", "").replace(".", "").isalnum():
            return [(start + 1, start + braced.end(1))], start + braced.end(1)
        return spans_of_map(line, start + 1)
    span = find_value(line, start, head.strength, head.key, head.middle)
    return ([span], span[1]) if span is not None else ([], start)


def _spans_of_list(line: str, start: int, *, weak: bool, in_map: bool = False) -> tuple[list[Span], int]:
    """Return the items of a list, each without its quotes, up to its end; of a very long one, the rest of the line.

    A list within a map ends where a map begins in it, whose members are looked at as those of the outer one.
    """
    spans: list[Span] = []
    at = start
    for _ in range(MOST_MATCHES):
        while at < len(line) and line[at] in " \t,[":
            at += 1
        if at >= len(line) or line[at] == "]":
            return spans, spans[-1][1] if spans else start
        if line[at] == "{":
            if in_map:
                return spans, spans[-1][1] if spans else start
            inner, at = spans_of_map(line, at + 1)
            spans += inner
            continue
        first, last, at = _item(line, at)
        item = line[first : min(last, first + _PEEK_CHARS)]
        harmless = _is_empty(item) or is_plain(item) or is_sentence(item) or _is_placeholder(item)
        if not harmless and (not weak or looks_random(item)):
            spans.append((first, last))
    return [*spans, (at, len(line))], len(line)


def _is_placeholder(text: str, start: int = 0) -> bool:
    """Return whether what begins there stands for a value: ${TOKEN}, @@TOKEN@@."""
    if text.startswith("@@", start):
        return text.find("@@", start + 3, start + 68) > 0
    return text.startswith(_PLACEHOLDERS, start)


def _item(line: str, at: int) -> tuple[int, int, int]:
    """Return where an item of a list begins and ends, and where to go on behind it."""
    limit = min(len(line), at + _LIST_ITEM_CHARS)
    quoted = quoted_value(line, at, limit)
    if quoted is not None:
        return quoted
    end = min((stop for stop in (line.find(mark, at, limit) for mark in ",]") if stop >= 0), default=limit)
    return at, max(at + 1, at + len(line[at:end].rstrip())), max(at + 1, end)


def spans_of_map(line: str, start: int) -> tuple[list[Span], int]:
    """Return what is secret in a map that a secret's name announces (its holders, what looks random), and its end."""
    end = _end_of_map(line, start)
    region = line[start:end]
    spans: list[Span] = []
    position = 0
    for match in _MEMBER.finditer(region):
        if match.start() < position:
            continue
        key, at = match.group(1), match.end()
        strength = key_strength(key)
        if strength == "no" and _HOLDER.fullmatch(key):
            strength = "strong"
        if strength == "no" and not _ABOUT_A_SECRET.isdisjoint(key.lower().replace("-", "_").split("_")):
            continue
        if region.startswith("{", at):
            continue
        if region.startswith("[", at):
            inner, position = _spans_of_list(region, at + 1, weak=strength != "strong", in_map=True)
            spans += inner
        elif (span := find_value(region, at, strength, key, match.group(2))) is not None:
            spans.append(span)
            position = span[1]
    return [(start + first, start + last) for first, last in spans], end


def _end_of_map(line: str, start: int) -> int:
    """Return where a map ends; of a long one, how far it is looked at."""
    end = min(len(line), start + _MAP_CHARS)
    depth = 1
    for match in _BRACE.finditer(line[start:end]):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return start + int(match.start())
    return end


def quoted_value(line: str, start: int, limit: int) -> tuple[int, int, int] | None:
    r"""Return where a quoted text begins and ends, without its quotes, and where to go on; None when there is none.

    Quotes may be escaped, as in JSON within JSON (`\"`): more backslashes before a quote make it part of the text.
    A text without its end goes to the limit.
    """
    mark = start
    while mark < limit and line[mark] == "\\":
        mark += 1
    if mark >= limit or line[mark] not in "\"'":
        return None
    depth, quote = mark - start, line[mark]
    if line.startswith(quote * 3, start):
        end = line.find(quote * 3, start + 3, limit)
        return (start + 3, end, end + 3) if end >= 0 else (start + 3, limit, limit)
    first = at = mark + 1
    while True:
        end = line.find(quote, at, limit)
        if end < 0:
            return first, limit, limit
        before = end
        while before > at and line[before - 1] == "\\":
            before -= 1
        slashes = end - before
        if slashes <= depth if depth else slashes % 2 == 0:
            return first, end - min(slashes, depth), end + 1
        at = end + 1


def find_value(line: str, start: int, strength: Strength, key: str, middle: str) -> Span | None:
    """Return where the value stands that is to be masked, without its quotes; None when it may stay.

    Args:
        line: The whole line.
        start: Where the value begins.
        strength: What its name tells; of a weak name only a value that looks random is masked.
        key: The name.
        middle: What stands between name and value.
    """
    weak = strength != "strong"
    limit = min(len(line), start + _PEEK_CHARS) if weak else len(line)
    wrapper = _WRAPPER.match(line[start : start + 40])
    begin = start + wrapper.end() if wrapper else start
    while wrapper and line[begin - 1] in "\"'\\":
        begin -= 1
    quoted = quoted_value(line, begin, limit)
    if quoted is not None:
        first, last, _ = quoted
        if weak and last == limit < len(line):
            return find_value(line, start, "strong", "password", middle)
        return None if _keeps(key, line[first:last], weak=weak) else (first, last)
    last = _find_end(line, start, limit)
    value = line[start:last]
    if (
        line[last : last + 2] == ": " and ":" in middle and "_" in value and key_strength(value) == "strong"
    ):  # "secrets: secret_key_base: x"
        return None
    if not weak and _is_whole_line(line, start, key, middle):
        last = start + len(line[start:].partition(" ;")[0].partition(" #")[0].rstrip())
    if last == start or _keeps(key, value, weak=weak):
        return None
    in_prose = ":" in middle or middle != middle.strip()
    if in_prose and (_CALL.match(line[start : start + _PEEK_CHARS]) if weak else is_message(line, start, value)):
        return None
    return start, _find_end(line, start, len(line)) if weak else last


def _find_end(line: str, start: int, limit: int) -> int:
    """Return where an unquoted value ends: at a blank or quote, before the next key=value, or closing punctuation."""
    end = limit
    stops = 0
    for at in range(start, limit):
        char = line[at]
        if not (char in _ENDS_A_VALUE or char.isspace()):
            continue
        if char in ",;":
            stops += 1
            if stops > _MOST_STOPS or not _NEXT_PAIR.match(line[at + 1 : at + 72]):
                continue
        end = at
        if char in "&,;":
            return end
        break
    escaped = line.find("%26", start, end)  # "&" within a URL's parameter
    if escaped > start:
        return escaped
    return start + (len(line[start:end].rstrip(PROSE_ENDS)) or end - start)


def _is_whole_line(line: str, start: int, key: str, middle: str) -> bool:
    """Return whether a line is one assignment, as in an env or INI file: its value may hold blanks."""
    before = line[: start - len(middle) - len(key)] if start <= _PEEK_CHARS else "x"
    return before.strip() in ("", "export") and middle.strip() == "=" and "=" not in line[start:]


def _is_empty(value: str) -> bool:
    low = value.lower()
    bare = low.strip("<>[](){}\"'`.,;: \t*\\")
    return bare in _EMPTY_VALUES or (bare in _LEFT_OUT and low[:1] in "<[({*")


def _keeps(key: str, value: str, *, weak: bool) -> bool:
    """Return whether a value under a key may stand."""
    if _is_empty(value) or value.strip("*•xX.<>[]") == "" or _is_placeholder(value):
        return True
    if _ERROR_CLASS.fullmatch(value[:_PEEK_CHARS].rstrip(":")) is not None:
        return True
    if weak:
        return not looks_random(value) or _PATH.fullmatch(value) is not None
    if value.strip("?") == "" or (value.startswith("$") and value[1:].replace("_", "").isalpha()):
        return True
    if (
        value.isupper() and key_strength(value) == "strong" and value.replace("_", "").isalpha()
    ):  # "--password PASSWORD"
        return value.lower() in key.lower()
    if value.isdigit() and len(value) <= 2:
        return True
    if value.isdigit() and len(value) <= 3 and key.lower() in _SHORT_KEYS:
        return True
    return _PATH.fullmatch(value[:_PEEK_CHARS]) is not None or is_sentence(value)
