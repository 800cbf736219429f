"""A necessary part of an expression: what every line holds that the expression finds.

Many expressions in one automaton are cheap as long as none of them has to remember. "connect .* refused" remembers to
the end of each line that "connect" has been there, and a hundred such expressions remember in all combinations: the
automaton grows with every line. Cut at such gaps, each to the part that tells most, they stay a list of words.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise

LEAST_TELLING = 3
"""A part of fewer letters and digits tells nothing."""
FREE = 50
"""What a part tells that holds a word for which a line is looked at in any case."""
BRIEF_REPEATS = 3
"""What is repeated so often at most is no gap."""

_FREE = re.compile(r"(?i)error|fatal|panic|exception|traceback|fail|critical|severe|emerg|abort|unable to|cannot|can't")
_COMMON = re.compile(
    r"(?i)status|https?|user|client|connect(?:ion|ed)?|request|config(?:uration)?|server|session|using|running|service"
    r"|info|level|return|exit|auth|update|found|read|load|process|password|login|set|required|default|file|path"
    r"|directory|database|tables?|certificate|s?bin|line|get|post|head|delete"
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(,?)(\d*)\})\??")
_ESCAPE = re.compile(r"\\(?:[pPx]\{[^}]*\}|x[0-9A-Fa-f]{2}|[pP].|[^\dQEC])")
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|(?P<flags>[imsU]*(?:-[imsU]+)?)(?P<end>[:)])))?")
_BRIEF = re.compile(r"[^.]|\\[dsW]|\[(?:\\[sd]|0-9|\\?[^\\\w^-])+\]")
"""What may be repeated without a gap: it ends soon."""


class _StrangeError(Exception):
    """Syntax that this reader does not know; the expression stays whole."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of an expression.

    Attributes:
        length: How many letters and digits each of its matches holds at least.
        rare: The same without those of common words.
        is_gap: It matches what has nothing to do with the failure: the expression is cut there.
        is_cut: It is what is left of a group with gaps, and joins none of its neighbours.
    """

    text: str
    length: int = 0
    rare: int = 0
    is_gap: bool = False
    is_cut: bool = False


def necessary_part(regex: str) -> str:
    """Return an RE2 expression that finds at least each line that `regex` finds, with as few gaps as may be.

    What has no part that tells anything stays whole, and so does an expression in syntax that is not known here.
    """
    try:
        return _Reader(regex).read()
    except _StrangeError:
        return regex


class _Reader:
    def __init__(self, regex: str) -> None:
        self._regex = regex
        self._at = 0

    def read(self) -> str:
        branches = self._branches("")
        if self._at < len(self._regex):
            raise _StrangeError
        return _alternatives(branches)

    def _branches(self, flags: str) -> list[_Part]:
        """Read up to the end of the group, each alternative as its best part; flags hold for all that follows."""
        branches: list[_Part] = []
        outer = flags
        while True:
            start = self._at
            parts: list[_Part] = []
            while self._at < len(self._regex) and self._regex[self._at] not in "|)":
                new, part = self._item(flags)
                if new != flags and parts:
                    raise _StrangeError
                flags = new
                parts += [] if part is None else [part]
            best = _best(parts)
            if best.length < LEAST_TELLING:
                best = replace(best, text=re.sub(r"^\(\?[imsU-]*\)", "", self._regex[start : self._at]))
            branches.append(replace(best, text=_with_flags(best.text, flags, outer)))
            if self._at == len(self._regex) or self._regex[self._at] == ")":
                return branches
            self._at += 1

    def _item(self, flags: str) -> tuple[str, _Part | None]:
        match = _GROUP.match(self._regex, self._at)
        if match is None:
            return flags, self._repeated(self._atom())
        self._at = match.end()
        inner = _changed(flags, match["flags"] or "")
        if match["end"] == ")":
            return inner, None
        branches = self._branches(inner)
        if not self._regex.startswith(")", self._at):
            raise _StrangeError
        self._at += 1
        length, rare = (min(branch.length for branch in branches), min(branch.rare for branch in branches))
        text = _with_flags(_alternatives(branches), inner, flags)
        is_cut = any(branch.is_cut for branch in branches)
        is_gap = is_cut and length < LEAST_TELLING
        return flags, self._repeated(_Part(f"(?:{text})", length, rare, is_gap=is_gap, is_cut=is_cut))

    def _atom(self) -> _Part:
        """One character, class, escape or assertion."""
        for kind in (_ESCAPE, _CLASS):
            match = kind.match(self._regex, self._at)
            if match is not None:
                self._at = match.end()
                is_letter = match[0][0] == "[" and match[0][1] != "^" and len(match[0]) == len("[Aa]")
                return _Part(match[0], int(is_letter), int(is_letter))
        character = self._regex[self._at]
        if character in "\\[*+?":
            raise _StrangeError
        self._at += 1
        return _Part(character, int(character.isalnum()), int(character.isalnum()))

    def _repeated(self, part: _Part) -> _Part:
        match = _QUANTIFIER.match(self._regex, self._at)
        if match is None:
            return part
        self._at = match.end()
        least, most = _bounds(match)
        if part.is_cut:
            return part if least else _Part("", is_gap=True)
        if (most is None or most > BRIEF_REPEATS) and most != least and _BRIEF.fullmatch(part.text) is None:
            return _Part("", is_gap=True)
        return replace(part, text=part.text + match[0], length=part.length * least, rare=part.rare * least)


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if match[0][0] in simple:
        return simple[match[0][0]]
    least = int(match[1])
    if not match[2]:
        return least, least
    return least, int(match[3]) if match[3] else None


def _changed(flags: str, change: str) -> str:
    on, _, off = change.partition("-")
    return "".join(sorted((set(flags) | set(on)) - set(off)))


def _with_flags(text: str, flags: str, outer: str) -> str:
    """The text as a group with its flags, where they are not those around it."""
    on = "".join(flag for flag in flags if flag not in outer)
    off = "".join(flag for flag in outer if flag not in flags)
    return text if flags == outer else f"(?{on}{'-' if off else ''}{off}:{text})"


def _alternatives(branches: list[_Part]) -> str:
    return "|".join(dict.fromkeys(branch.text for branch in branches))


def _best(parts: list[_Part]) -> _Part:
    """The run of parts between two gaps that tells most."""
    cuts = [-1, *(at for at, part in enumerate(parts) if part.is_gap or part.is_cut), len(parts)]
    runs = [parts[before + 1 : after] for before, after in pairwise(cuts)]
    runs += [[part] for part in parts if part.is_cut]
    best = max((_joined(run) for run in runs), key=lambda part: (part.rare, part.length))
    return replace(best, is_cut=len(runs) > 1)


def _joined(run: list[_Part]) -> _Part:
    text = "".join(part.text for part in run)
    length = sum(part.length for part in run)
    literal = "".join(part.text if len(part.text) == 1 else " " for part in run)
    if _FREE.search(literal):
        return _Part(text, length, FREE)
    rare = sum(part.rare for part in run) - sum(map(len, _COMMON.findall(literal)))
    return _Part(text, length, rare if rare >= LEAST_TELLING else 0)
