"""Finds what a program itself asks for, beside the failure that it reports: "Please set FOO", "run app --upgrade"."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile

import re2

from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.diagnosis.quoted_messages import message_in, shorten, whole_message_in
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.signatures import Level

LINES_AFTER = 10
_LINE_CHARS = 1000
_FEWEST_CHARS = 16
_JOINED_AT_MOST = 2
_ASKS = re2.compile(
    r"(?i)\bplease\b|\byou (?:\w+ ){0,2}\*?(?:must|need to|have to|should)\b|\bmake sure\b|\bensure (?:that|the|you)\b"
    r"|\b(?:must|should|needs? to|has to|have to) (?:first )?(?:be|have|contain|match)\b"
    r"|(?:^|[.!;:,(] *|\band |\bor )(?:try (?:to )?(?:run|us|set|add|remov|increas|reduc|delet)\w*"
    r"|consider \w+ing|run [`'\"./\w-]+|set [\w`'\"$]+|use [`'\"\w-]+|add [`'\"\w]+|re-?run [`'\"\w]|restart with"
    r"|(?:re)?install \w+|upgrade \w+|downgrade \w+|update (?:the|your|to)\b|download \w+|specify \w+|provide \w+"
    r"|configure \w+|enable \w+|back ?up (?:the|your)\b|(?:increase|decrease|raise|reduce|lower) [\w`'\"]+"
    r"|remove (?:the|this|it|your)\b|delete (?:the|this|it|your)\b|generate \w+|rename \w+|re-?create \w+|reset \w+"
    r"|check (?:that|the|your|if|whether)\b|verify (?:that|the|your)\b|log ?in \w+|change (?:the|your)\b)"
)
_NO_ADVICE = re2.compile(
    r"(?i)\b(?:report (?:this|the|it|a|bugs?)|file (?:a|an) |open an issue|wait|be patient|visit|subscribe|donat\w+"
    r"|sponsor\w*|again later|ignore (?:this|the)|press |for (?:more|further) (?:information|details)|sudo|elevated"
    r"|instructions at|messages? above|(?:in|to) (?:the )?future|(?:check|see) the docs)\b|https?://\S+$"
    r"|^(?:raise|throw|at|File|return)\b \S+"
)
"""What helps nobody here: to ask somebody else, to wait, to become root."""
_SENTENCE_END = re2.compile(r"[.!?;] +[A-Z(`'\"]")
_GOES_ON = re2.compile(
    r"(?i)(?:[:,]|\b(?:the|a|an|to|by|at|with|of|in|on|and|or|for|from|specify|set|run|using)['\"]?)$"
)
_CONTINUES = ("HINT:", "DETAIL:")


def find_advice(lines: Sequence[LogLine], telling: str | None) -> str | None:
    """Return what the program asks for in the line that tells of the failure, or soon after it; None where nothing.

    Args:
        lines: The log, oldest first.
        telling: The text of that line; None for the last ones.
    """
    texts = [line.text for line in lines]
    if telling is None:
        last = range(max(0, len(texts) - LINES_AFTER), len(texts))
        return _first_advice(texts, filter(partial(_belongs_to_failure, texts), last))
    places = [index for index, text in enumerate(texts) if text.strip() == telling.strip()]
    newest_then_first = dict.fromkeys((*places[-1:], *places[:1]))
    return next((advice for place in newest_then_first if (advice := _find_after(texts, place)) is not None), None)


def _find_after(texts: Sequence[str], place: int) -> str | None:
    """Return the first advice in the line that tells of the failure, or in those behind it that belong to it."""
    behind = range(place + 1, min(place + LINES_AFTER, len(texts)))
    return _first_advice(texts, (place, *takewhile(partial(_belongs_to_failure, texts), behind)))


def _first_advice(texts: Sequence[str], indexes: Iterable[int]) -> str | None:
    for index in indexes:
        for sentence in _sentences(_whole(texts, index)):
            if len(sentence) >= _FEWEST_CHARS and _asks(sentence):
                return shorten(sentence)
    return None


def _belongs_to_failure(texts: Sequence[str], index: int) -> bool:
    """Whether a line has no level, that of an error, or explains the error before it."""
    level = level_of(texts[index])
    return level is Level.UNKNOWN or level >= Level.ERROR or any(word in texts[index] for word in _CONTINUES)


def _whole(texts: Sequence[str], index: int) -> str:
    """Return a line with the next ones where its sentence goes on there."""
    whole = " ".join(whole_message_in(texts[index][:_LINE_CHARS]).split())
    for text in texts[index + 1 : index + 1 + _JOINED_AT_MOST]:
        if _GOES_ON.search(whole) is None:
            break
        whole = f"{whole} {message_in(text)}"
    return whole


def _sentences(text: str) -> Iterator[str]:
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[begin : match.start() + 1]
        begin = match.end() - 1
    yield text[begin:]


def _asks(sentence: str) -> bool:
    return _ASKS.search(sentence) is not None and _NO_ADVICE.search(sentence) is None
