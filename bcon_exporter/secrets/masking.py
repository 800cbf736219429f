"""Masks secrets in text before it becomes a fact.

There are three kinds of rules: by name (`secret_names`: what follows "password="), by shape (`shapes`: a token, a URL's
password), by value (`known_secrets`: what an environment holds under a secret name). Masking a word too many is
preferred to leaking one. Every function is idempotent, keeps the number of lines and runs in linear time. The order is
always: clean, mask, clip.
"""

import hashlib
import hmac
from collections.abc import Sequence
from secrets import token_bytes
from typing import Any

import re2

from bcon_exporter.model.desired import FieldValue
from bcon_exporter.secrets.cleaning import MAX_NAME_CHARS, MAX_SHOWN_CHARS, clean_line, clip_text, strip_controls
from bcon_exporter.secrets.following_lines import OPENER_TRIGGER, mask_following_lines
from bcon_exporter.secrets.issuer_tokens import MASK, MOST_MATCHES, TOKEN_TRIGGER, has_any, mask_tokens
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.pairs import ESCAPED_HEAD, HEAD, mask_pairs
from bcon_exporter.secrets.phrases import PHRASES
from bcon_exporter.secrets.private_keys import BLOCK_TRIGGER, mask_key_blocks
from bcon_exporter.secrets.secret_names import is_secret_key, key_strength
from bcon_exporter.secrets.shapes import SHAPES, Replace, Rule, looks_random, make_trigger

__all__ = [
    "MASK",
    "Sealer",
    "is_secret_key",
    "mask_lines",
    "mask_pair",
    "mask_text",
    "safe_name",
    "safe_pair",
    "safe_text",
]


_SEARCH_MEMORY_BYTES = 16 * 2**20


def _searcher(pattern: str) -> Any:
    """Compile a pattern that only finds its first match, in UTF-8 bytes and within a line; no groups, five times faster."""
    options = re2.Options()
    options.never_capture = True
    options.never_nl = True
    options.log_errors = False  # RE2 would write to stderr when a text fills its memory
    options.max_mem = _SEARCH_MEMORY_BYTES
    return re2.compile(f"(?m){pattern}".encode(), options)


def _compile(rule: Rule) -> Any:
    options = re2.Options()
    options.never_capture = not rule.has_groups
    options.log_errors = False
    return re2.compile(rule.pattern, options)


_NAMES = _searcher(f"{HEAD}|{ESCAPED_HEAD}")
_TOKENS = _searcher(TOKEN_TRIGGER)
_RULE_SETS = tuple(
    (_searcher(make_trigger(rules)), tuple((rule.hints, _compile(rule), rule.replace) for rule in rules))
    for rules in (SHAPES, PHRASES)
)
_LINE_TRIGGERS = (_NAMES, _TOKENS, *(trigger for trigger, _ in _RULE_SETS))
"""They are searched one by one: one joined expression takes ten times as long."""
_BLOCKS = _searcher(BLOCK_TRIGGER)
_OPENERS = _searcher(OPENER_TRIGGER)
_MAY_SPAN_LINES = _searcher(f"{BLOCK_TRIGGER}|{OPENER_TRIGGER}")
"""Only text that matches this may need a further round of masking."""
_FINGERPRINT_DIGITS = 16
_NAMED_BY_USERS = frozenset(("labels", "logging", "annotations", "sysctls", "storage_opt"))
"""Fields whose keys users choose, so that a key such as "password" marks its value as secret."""
_IDENTITIES = frozenset(
    ("container_name", "network_mode", "ipc", "pid", "uts", "userns_mode", "volumes_from", "links", "first_network")
)
"""Fields that hold names of containers, services and networks."""
_MOST_SHARED = 4096
_MAX_ROUNDS = 6
_SHORT_VALUE_CHARS = 256
_SHA256_DIGITS = 64
_HEX_DIGITS = frozenset("0123456789abcdef")
_MOST_HARMLESS = 4096


def mask_text(text: str) -> str:
    """Return the text with every secret in it replaced by `***`.

    The text must be clean: a lone surrogate is no UTF-8 and cannot be searched.
    """
    for _ in range(_MAX_ROUNDS):
        masked = _mask_once(text)
        if masked == text or not _MAY_SPAN_LINES.search(masked.encode()):
            return masked
        text = masked
    return text


def _mask_once(text: str) -> str:
    data = text.encode()
    lines: list[str] | None = None
    if _MAY_SPAN_LINES.search(data) is not None:
        if suspects := _find_lines(_BLOCKS, data):
            lines = mask_key_blocks(text.split("\n"), suspects)
        openers = _find_lines(_OPENERS, data) if "\n" in text else []
        if openers:
            lines = mask_following_lines(lines or text.split("\n"), openers)
        if lines is not None:
            text = "\n".join(lines)
            data = text.encode()
    hit = sorted({number for trigger in _LINE_TRIGGERS for number in _find_lines(trigger, data)})
    if not hit:
        return text
    lines = lines or text.split("\n")
    done: dict[str, str] = {}
    for number in hit:
        line = lines[number]
        if line not in done:
            done[line] = _mask_line(line)
        lines[number] = done[line]
    return "\n".join(lines)


def _find_lines(searcher: Any, data: bytes) -> list[int]:
    """Return the numbers of the lines in which an expression matches."""
    numbers: list[int] = []
    number = counted = position = 0
    while (match := searcher.search(data, position)) is not None:
        number += data.count(b"\n", counted, match.start())
        counted = match.start()
        numbers.append(number)
        position = data.find(b"\n", counted) + 1
        if position == 0:
            break
    return numbers


def _mask_line(line: str) -> str:
    # One rule may leave something for another: repeated until nothing changes, so that masking is idempotent.
    for _ in range(_MAX_ROUNDS):
        before = line
        if _TOKENS.search(line.encode()):
            line = mask_tokens(line)
        for trigger, rules in _RULE_SETS:
            if trigger.search(line.encode()):
                line = _apply(rules, line)
        line = mask_pairs(line)
        if line == before:
            return line
    return line


def _apply(rules: Sequence[tuple[tuple[str, ...], Any, Replace]], line: str) -> str:
    low = line.lower()
    for hints, pattern, replace in rules:
        if has_any(low, hints):
            line = _replace(pattern, replace, line)
    return line


def _replace(pattern: Any, replace: Replace, line: str) -> str:
    """Replace every match; after very many, mask the rest of the line."""
    done: list[str] = []
    position = 0
    for match in pattern.finditer(line):
        done.append(line[position : match.start()])
        if len(done) > 2 * MOST_MATCHES:
            return "".join(done) + MASK
        done.append(replace(match))
        position = match.end()
    return "".join(done) + line[position:] if done else line


def mask_lines(lines: Sequence[str]) -> list[str]:
    """Mask lines of one log together: one search for all, and secrets that span lines are seen (keys, YAML, prompts)."""
    if not lines:
        return []
    text = "\n".join(lines)
    masked = mask_text(text)
    return list(lines) if masked is text else masked.split("\n")


def mask_pair(key: str, value: str) -> str:
    """Mask a value that stands under a name: an environment variable, a label, an option."""
    strength = key_strength(key)
    if value and (strength == "strong" or (strength == "weak" and looks_random(value))):
        return MASK
    return _mask_value(value)


_harmless: set[str] = set()
"""Short values in which nothing had to be masked, so no secret is kept here.

Thousands of containers carry the labels of one image, the names of one project, the folders of one application.
"""


def _mask_value(value: str) -> str:
    if value in _harmless or _is_digest(value):
        return value
    masked = mask_text(value)
    if masked == value and len(value) <= _SHORT_VALUE_CHARS:
        if len(_harmless) >= _MOST_HARMLESS:
            _harmless.clear()
        _harmless.add(value)
    return masked


def _is_digest(value: str) -> bool:
    """Return whether a value is a SHA-256 in hexadecimal digits, of which every container has several of its own."""
    return len(value) == _SHA256_DIGITS and _HEX_DIGITS.issuperset(value)


def safe_text(raw: str, *, max_chars: int = MAX_SHOWN_CHARS, secrets: KnownSecrets = NO_SECRETS) -> str:
    """Cut, clean, mask and clip text from outside, in the one order that leaks nothing.

    `strip_controls` cuts at 256 KiB where no half of a secret is left; what is shown is clipped after masking.
    """
    return clip_text(_mask_value(secrets.hide(strip_controls(raw))), max_chars)


def safe_name(raw: str, *, secrets: KnownSecrets = NO_SECRETS) -> str:
    """Return a name made safe as by `safe_text`: one line of at most `MAX_NAME_CHARS`."""
    return clip_text(_mask_value(secrets.hide(clean_line(raw))), MAX_NAME_CHARS)


def safe_reference(raw: str, *, secrets: KnownSecrets = NO_SECRETS) -> str:
    """Return an image reference with its tag made safe; the image's name is an identity and stays."""
    name, colon, tag = clean_line(raw).rpartition(":")
    if not colon or "/" in tag or "@" in name:
        return clip_text(f"{name}{colon}{tag}", MAX_NAME_CHARS)
    return clip_text(f"{name}:{_mask_value(secrets.hide(tag))}", MAX_NAME_CHARS)


def safe_pair(key: str, raw: str, *, secrets: KnownSecrets = NO_SECRETS) -> str:
    """Return the value of a label or an option, made safe as by `safe_text`."""
    return clip_text(mask_pair(clean_line(key), secrets.hide(strip_controls(raw))), MAX_SHOWN_CHARS)


class Sealer:
    """Makes configured values comparable without showing them.

    One instance per process: fingerprints of two instances never compare. The key never leaves the process. Containers
    of one project are configured alike, so equal values are one object.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._made: dict[FieldValue, FieldValue] = {}

    @classmethod
    def random(cls) -> "Sealer":
        """Return a sealer with a random key."""
        return cls(token_bytes(32))

    def seal(self, path: str, raw: str, secrets: KnownSecrets = NO_SECRETS) -> FieldValue:
        """Return the value as a report may show it, with its keyed fingerprint.

        Args:
            path: Where the value stands ("labels.KEY", see `FieldValue`); environment values are never shown.
            raw: The normalised raw value.
            secrets: Values to hide as well.

        The fingerprint is over path and value: where a path is masked, it still tells one from another.
        """
        whole = f"{path}\0{raw}".encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, whole, hashlib.sha256).hexdigest()
        value = FieldValue(shown=_shown(path, raw, secrets), fingerprint=digest[:_FINGERPRINT_DIGITS])
        if len(self._made) >= _MOST_SHARED:
            self._made.clear()
        return self._made.setdefault(value, value)


def _shown(path: str, raw: str, secrets: KnownSecrets) -> str:
    root, _, key = path.partition(".")
    if root == "environment":
        return ""
    if root == "logging":
        key = key.removeprefix("options.")
    if root in _NAMED_BY_USERS:
        return safe_pair(key, raw, secrets=secrets)
    return safe_text(raw, secrets=NO_SECRETS if names_identity(path, raw) else secrets)


def names_identity(path: str, value: str) -> bool:
    """Return whether a field's value is an identity (the name of a container, volume, ...): nothing is hidden in it."""
    root = path.partition(".")[0]
    return root in _IDENTITIES or (root == "volumes" and value.startswith("volume "))
