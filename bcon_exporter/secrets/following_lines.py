"""Masks secrets whose name stands on the line before: prompts, YAML and JSON over several lines, argument lists.

`split_prefix` first takes off what a logger wrote before the line: a container's name, a time, a level.
"""

from collections.abc import Iterator

import re2

from bcon_exporter.secrets.issuer_tokens import MASK
from bcon_exporter.secrets.pairs import KEY, SEPARATOR, find_value, quoted_value, spans_of_map
from bcon_exporter.secrets.prose_or_secret import is_message, is_plain, is_sentence
from bcon_exporter.secrets.secret_names import key_strength

_QUOTE_MARK = r"\\*[\"']?"
_STAMP = (
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
    r"|\d\d[-/](?:\d\d|[A-Z][a-z]{2})[-/]\d{4}[: ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{10}(?:\.\d{1,9})?"
)
_LEVEL = r"(?i:trace|debug|info|information|notice|warn|warning|error|err|critical|crit|fatal|severe|panic|emerg|alert)"
_PREFIX = re2.compile(
    rf"^(?:(?:{_STAMP}) )?(?:[A-Za-z0-9][A-Za-z0-9_.\-]{{0,63}}[ \t]{{0,40}}\|(?: |$))?"
    rf"(?:(?:\[(?:{_STAMP})\]|(?:{_STAMP})|\[{_LEVEL}\]|{_LEVEL}|\[[A-Za-z0-9_.:#\-]{{1,40}}\]|std(?:out|err)(?: [FP])?)"
    r"(?: ?[:|\-])?(?: |\t)+)*"
)
_MOST_PREFIX = 160

# A name whose line ends with it, then what opens a value on the next line: a block, a list, a map.
_OPENER = rf"({KEY}){_QUOTE_MARK}\]?[ \t]*{SEPARATOR}[ \t]*(\"\"\"|'''|\\*[\"']|[|>][0-9+\-]{{0,2}}|(?:Some)?[\[({{]|[^\s\\]*\\)?[ \t]*$"
_ANNOUNCED = (
    r"(?i)\b(?:password|passwd|passphrase|passwort|secret|token|credentials?|(?:api|access|secret|unseal|root|master|private) ?key)"
    r"s?\b[^:=\n]{0,80}:[ \t]*$"
)
_NAME = rf"(?i:name|key|variable|parameter|field|header|option){_QUOTE_MARK}[ \t]*[:=][ \t]*{_QUOTE_MARK}({KEY}){_QUOTE_MARK},?[ \t]*$"
_FLAG = rf"(?:^|[\s\"'\[,])(--?{KEY}){_QUOTE_MARK},?[ \t]*\\?[ \t]*$"
_TAG = rf"<(?:key|name)>({KEY})</(?:key|name)>[ \t]*$"
_SMTP_PASSWORD = "334 UGFzc3dvcmQ6"  # noqa: S105 - is none
"""The prompt of a mail server: "Password:" in base64."""
_COLUMN = rf"\|[ \t]*({KEY})[ \t]*(?:\||$)"
OPENER_TRIGGER = (
    f"(?m)(?:{_OPENER})|(?:{_ANNOUNCED})|(?:{_NAME})|(?:{_FLAG})|(?:{_COLUMN})|(?:{_TAG})|(?:{_SMTP_PASSWORD}[ \t]*$)"
)

_OPENER_OF = re2.compile(_OPENER)
_ANNOUNCED_OF = re2.compile(_ANNOUNCED)
_NAME_OF = re2.compile(_NAME)
_FLAG_OF = re2.compile(_FLAG)
_COLUMN_OF = re2.compile(_COLUMN)
_TAG_OF = re2.compile(_TAG)
_TAGGED = re2.compile(r"^[ \t]*<(?:string|value|data)>([^<]+)")
_VALUE_OF = re2.compile(rf"^[ \t\-{{\"'\\]*(?i:value|val|default|content|data)({_QUOTE_MARK}[ \t]*{SEPARATOR}[ \t]*)")
_MEMBER = re2.compile(rf"^[ \t]*(?:- )?{_QUOTE_MARK}([A-Za-z0-9_.\-]+){_QUOTE_MARK}[ \t]*(?::|=|=>)(?:[ \t]|$)")
_TYPED = re2.compile(r"string\([0-9]{1,6}\) ")
_MOST_FOLLOWING = 60
"""Lines after a name that may belong to its block or list."""
_MOST_OPENERS = 1000
"""Names at line ends that are looked at; behind each further one the whole next line is masked."""
_MOST_BLANK = 2
_LEAST_ANNOUNCED = 6
_MOST_BETWEEN = 3
"""Lines that may stand between the name and the value of an entry."""


def split_prefix(line: str) -> tuple[str, str]:
    """Return what a logger wrote before a line, and the line."""
    match = _PREFIX.search(line[:_MOST_PREFIX])
    end = int(match.end()) if match else 0
    return line[:end], line[end:]


def mask_following_lines(lines: list[str], openers: list[int]) -> list[str]:
    """Mask values whose name stands on a line before them.

    Args:
        lines: All lines of a text.
        openers: The numbers of those that end with a name (`OPENER_TRIGGER`).
    """
    masked = list(lines)
    for number in openers[_MOST_OPENERS:]:
        if number + 1 < len(masked) and masked[number + 1].strip():
            masked[number + 1] = MASK
    for number in openers[:_MOST_OPENERS]:
        for target, first, last in _find_following(masked, number):
            line = masked[target]
            if line[first:last].strip("*") != "":
                masked[target] = line[:first] + MASK + line[last:]
    return masked


def _find_following(lines: list[str], number: int) -> Iterator[tuple[int, int, int]]:
    """Yield (line, first, last) of each value that the line `number` announces."""
    line = split_prefix(lines[number])[1].rstrip()
    opener = _OPENER_OF.search(line)
    if opener is not None and _announces(opener.group(1), opener.group(2) or ""):
        if line.endswith("\\"):
            yield from _continued_word(lines, number)
            return
        indent = _indent(line)
        mark = (opener.group(2) or "").removeprefix("Some")[:1]
        yield from _following_values(lines, number, indent, mark, opener.group(1))
        return
    named = _NAME_OF.search(line)
    if named is not None and "form-data" in line and key_strength(named.group(1)) == "strong":
        yield from _one_word(lines, number, least=1)
        return
    if named is not None and key_strength(named.group(1)) == "strong":
        yield from _entry_value(lines, number)
        return
    column = _COLUMN_OF.search(line)
    if column is not None and key_strength(column.group(1)) == "strong":
        yield from _cells(lines, number, line[: column.start(1)].count("|"))
        return
    tag = _TAG_OF.search(line)
    if tag is not None and key_strength(tag.group(1)) == "strong":
        yield from _tagged_value(lines, number)
        return
    flag = _FLAG_OF.search(line)
    if flag is not None and key_strength(flag.group(1).lstrip("-")) == "strong":
        yield from _continued_word(lines, number) if line.endswith("\\") else _one_word(lines, number, least=1)
        return
    if line.endswith(_SMTP_PASSWORD):
        yield from _one_word(lines, number, least=1)
    elif _ANNOUNCED_OF.search(line) is not None:
        yield from _one_word(lines, number, least=_LEAST_ANNOUNCED)


def _announces(key: str, mark: str) -> bool:
    """Return whether a name that ends its line is that of a secret; "tokens" is where a list follows."""
    strength = key_strength(key)
    return strength == "strong" or (strength == "weak" and mark == "[" and key.lower().endswith("tokens"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _following_values(
    lines: list[str], number: int, indent: int, mark: str, key: str
) -> Iterator[tuple[int, int, int]]:
    """Yield the values of a name that ends its line: a word, a block, the items of a list, the holders of a map."""
    if mark == "" and not _goes_on(lines, number, indent):
        yield from _one_word(lines, number, least=1)
        return
    closing = {"[": "]", "(": ")", "{": "}"}.get(mark, "")
    for target in range(number + 1, min(len(lines), number + 1 + _MOST_FOLLOWING)):
        prefix, line = split_prefix(lines[target])
        body = line.strip()
        if not body:
            continue
        if (closing and body.startswith(closing)) or (not closing and _ends_block(line, indent, mark)):
            return
        offset = len(prefix)
        if mark in "|>\"'" and mark:
            ends = mark in "\"'" and body.endswith(mark)
            text = line.rstrip().rstrip(mark) if ends else line.rstrip()
            if _indent(line) < len(text):
                yield target, offset + _indent(line), offset + len(text)
            if ends:
                return
            continue
        for first, last in _spans_of_line(line, key):
            yield target, offset + first, offset + last


def _goes_on(lines: list[str], number: int, indent: int) -> bool:
    """Return whether the next line is deeper, or an item of a list: YAML."""
    if number + 1 >= len(lines):
        return False
    line = split_prefix(lines[number + 1])[1]
    return line.strip() != "" and (_indent(line) > indent or line.lstrip().startswith("- "))


def _ends_block(line: str, indent: int, mark: str) -> bool:
    if mark in "\"'" and mark:
        return False
    deeper = _indent(line) > indent
    return not deeper and not (mark == "" and _indent(line) == indent and line.lstrip().startswith("- "))


def _spans_of_line(line: str, key: str) -> Iterator[tuple[int, int]]:
    """Yield what is to be masked in one line of a list or map that a secret's name announced."""
    member = _MEMBER.search(line)
    if member is not None:
        if key.lower() == "stringdata":  # a Secret of Kubernetes
            span = find_value(line, member.end(), "strong", "password", ": ")
            if span is not None:
                yield span
        else:
            yield from spans_of_map(line, 0)[0]
        return
    start = _indent(line)
    if line.startswith("- ", start):
        start += 2 + _indent(line[start + 2 :])
    span = _value_at(line, start)
    if span is not None and not (key.lower().endswith("secrets") and _is_name(line[span[0] : span[1]])):
        yield span


def _is_name(item: str) -> bool:
    """Return whether an item of a list names a secret, as the services of a Compose file do."""
    return key_strength(item) != "no" and not any(map(str.isdigit, item))


def _value_at(line: str, start: int) -> tuple[int, int] | None:
    """Return where the value at `start` stands, which ends with its quote or its line; None for a message."""
    typed = _TYPED.match(line[start : start + 24])  # PHP: string(12) "x"
    start += typed.end() if typed else 0
    quoted = quoted_value(line, start, len(line))
    first, last = quoted[:2] if quoted else (start, len(line.rstrip(" \t,")))
    value = line[first:last]
    if value.startswith(("-----", "${", "{{", "$(")) or value.strip("*[]{}(),") == "":
        return None
    if is_message(value, 0, value) or is_sentence(value) or (not quoted and value.startswith("#")):
        return None
    return first, last


def _one_word(lines: list[str], number: int, *, least: int) -> Iterator[tuple[int, int, int]]:
    """Yield the next line if it is one word, as a prompt's answer or a generated password is."""
    for target in range(number + 1, min(len(lines), number + 2 + _MOST_BLANK)):
        prefix, line = split_prefix(lines[target])
        body = line.strip()
        if not body:
            continue
        start = _indent(line)
        if line.startswith("- ", start):
            start += 2
        span = _value_at(line, start)
        value = line[span[0] : span[1]] if span is not None else ""
        quoted = span is not None and line[span[0] - 1 : span[0]] in ('"', "'")
        if span is None or len(value) < least or is_plain(value) or _MEMBER.search(line) is not None:
            return
        if (" " in value and not quoted) or value.endswith((":", "...", "…")):
            return
        yield target, len(prefix) + span[0], len(prefix) + span[1]
        return


def _continued_word(lines: list[str], number: int) -> Iterator[tuple[int, int, int]]:
    """Yield the first word of the next line, where a backslash ends this one."""
    if number + 1 >= len(lines):
        return
    prefix, line = split_prefix(lines[number + 1])
    start = _indent(line)
    quoted = quoted_value(line, start, len(line))
    word = line[start:].partition(" ")[0].rstrip("\\")
    first, last = quoted[:2] if quoted else (start, start + len(word))
    value = line[first:last]
    if value and not is_plain(value) and not value.startswith(("-", "$", "{{")):
        yield number + 1, len(prefix) + first, len(prefix) + last


def _tagged_value(lines: list[str], number: int) -> Iterator[tuple[int, int, int]]:
    """Yield what stands below `<key>password</key>` or `<name>password</name>`, in property lists and Hadoop's files."""
    if number + 1 < len(lines):
        prefix, line = split_prefix(lines[number + 1])
        value = _TAGGED.search(line)
        if value is not None and not is_plain(value.group(1)):
            yield number + 1, len(prefix) + value.start(1), len(prefix) + value.end(1)


def _cells(lines: list[str], number: int, column: int) -> Iterator[tuple[int, int, int]]:
    """Yield the words of one column of a table, below the name that heads it; `column` counts the bars before it."""
    for target in range(number + 1, min(len(lines), number + 1 + _MOST_FOLLOWING)):
        prefix, line = split_prefix(lines[target])
        cells = line.split("|", column + 1)
        if len(cells) <= column:
            if not line.startswith(("+-", "--", "+=")):
                return
            continue
        word = cells[column].strip()
        if word and " " not in word and not is_plain(word) and word.strip("-:+=*"):
            first = len(prefix) + sum(map(len, cells[:column])) + column + cells[column].index(word)
            yield target, first, first + len(word)


def _entry_value(lines: list[str], number: int) -> Iterator[tuple[int, int, int]]:
    """Yield the value of an entry whose name is a secret's: `name: DB_PASSWORD`, then `value: x`, or the other way."""
    for step in (1, -1):
        target = number
        for _ in range(_MOST_BETWEEN):
            target += step
            if not 0 <= target < len(lines):
                break
            prefix, line = split_prefix(lines[target])
            if not line.strip() or line.strip()[0] in "{}[]" or (step > 0 and line.lstrip().startswith("- ")):
                break
            value = _VALUE_OF.search(line)
            if value is not None:
                span = find_value(line, value.end(), "strong", "password", value.group(1))
                if span is not None:
                    yield target, len(prefix) + span[0], len(prefix) + span[1]
                return
            if step < 0 and line.lstrip().startswith("- "):
                break
