"""Says of an answer of the product whether it is right, generic, wrong or a false alarm. Mechanical, and strict. Pure.

Right is: the severity that is expected, the cause among the first two, the first step among the first two suggestions,
and nothing of what must not be said in the first cause or suggestion. A sentence is said where half of the words of
its first clause are, two at least (of one of its alternatives: "…, or …"); a phrase that must not be said is said
where all of its words are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SEVERITIES = ("healthy", "info", "warning", "error", "critical")
_COMMANDS = ("drift", "verify", "check")
_QUESTIONS = ("status", "cause", "first_step", "must_not_say", "words", "up", *_COMMANDS)
AT_MOST_A_REMARK = ("healthy", "info")
LOOKED_AT, FEWEST_WORDS = 2, 2
_ASIDE = re.compile(r"\([^)]*\)")
_ALTERNATIVES = re.compile(r",? or (?=\S)")
_WORD = re.compile(r"[a-z0-9][a-z0-9_./:-]*[a-z0-9]")
_ENDINGS = re.compile(r"(?:ing|ed|es|s|e|ly)$")
_SHORTEST_WORD, _SHORTEST_STEM = 3, 3
_EMPTY_WORDS = frozenset(
    (
        *("the", "and", "for", "that", "this", "with", "its", "has", "have", "had", "not", "but", "may", "was", "were"),
        *("are", "one", "does", "did", "any", "other", "than", "from", "into", "out", "over", "made", "make", "what"),
        *("which", "who", "when", "where", "there", "here", "been", "being", "can", "will", "would", "could", "should"),
        *("first", "step", "each", "two", "them", "then", "once", "also", "only", "while"),
    )
)


class Verdict(StrEnum):
    """How an answer was."""

    RIGHT = "right"
    GENERIC = "generic"
    WRONG = "wrong"
    FALSE_ALARM = "false alarm"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Answer:
    """What the product said.

    Attributes:
        severity: The worst; "healthy" without any above info.
        symptoms: Severity by symptom.
        said: Verdict and whole text by command ("drift", "verify", "check").
    """

    severity: str = "healthy"
    causes: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    symptoms: tuple[tuple[str, str], ...] = ()
    said: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Judgement:
    """A verdict and why."""

    verdict: Verdict
    why: str = ""


def answer_of(report: Mapping[str, Any]) -> Answer:
    """Read the JSON of `analyze-log` or of `diagnose CONTAINER`."""
    causes: list[Mapping[str, Any]] = report.get("causes") or report.get("likely_causes") or []
    symptoms = tuple((str(symptom["type"]), str(symptom["severity"])) for symptom in report.get("symptoms") or ())
    worst = max((severity for _, severity in symptoms), key=SEVERITIES.index, default="healthy")
    return Answer(
        severity="healthy" if worst in AT_MOST_A_REMARK else worst,
        causes=tuple(f"{cause['description']} {cause.get('says') or ''}" for cause in causes),
        suggestions=tuple(
            f"{step['action']} {step.get('rationale', '')} {step.get('says') or ''}"
            for step in report.get("suggestions") or ()
        ),
        symptoms=symptoms,
    )


def judge(expected: Mapping[str, Any], answer: Answer | None) -> Judgement:
    """Hold an answer against what is expected; None: there was none."""
    if answer is None:
        return Judgement(Verdict.WRONG, "it gave no answer")
    commands = {question: text for question, text in expected.items() if question in _COMMANDS}
    for command, text in commands.items():
        if (judgement := _judge_command(command, str(text), dict(answer.said))).verdict is not Verdict.RIGHT:
            return judgement
    severities = dict(answer.symptoms)
    for symptom in sorted(set(expected) - set(_QUESTIONS)):
        if (said := severities.get(symptom, "healthy")) not in _severities_of(str(expected[symptom])):
            return Judgement(Verdict.WRONG, f"{symptom} is {said}")
    wanted = _severities_of(str(expected.get("status", "")))
    if wanted and wanted <= {*AT_MOST_A_REMARK}:
        is_quiet = answer.severity in AT_MOST_A_REMARK
        return Judgement(Verdict.RIGHT) if is_quiet else Judgement(Verdict.FALSE_ALARM, f"it says {answer.severity}")
    return _judge_diagnosis(expected, answer, wanted)


def _judge_diagnosis(expected: Mapping[str, Any], answer: Answer, wanted: frozenset[str]) -> Judgement:
    if wanted and answer.severity not in wanted:
        return Judgement(Verdict.WRONG, f"it says {answer.severity}, right is {' or '.join(sorted(wanted))}")
    first_words = " ".join((*answer.causes[:1], *answer.suggestions[:1]))
    if forbidden := _find_forbidden(expected, first_words):
        return Judgement(Verdict.WRONG, f"it says {forbidden!r}")
    if not _is_answered(expected, "cause", answer.causes[:LOOKED_AT]):
        verdict = Verdict.WRONG if answer.causes else Verdict.GENERIC
        return Judgement(verdict, f"its causes: {'; '.join(answer.causes[:LOOKED_AT]) or 'none'}")
    if not _is_answered(expected, "first_step", answer.suggestions[:LOOKED_AT]):
        return Judgement(Verdict.GENERIC, f"its first steps: {'; '.join(answer.suggestions[:LOOKED_AT]) or 'none'}")
    return Judgement(Verdict.RIGHT)


def _judge_command(command: str, expected: str, said: Mapping[str, str]) -> Judgement:
    """Return whether the command's verdict is the expected first word, and half of the words after it are said."""
    if command not in said:
        return Judgement(Verdict.NOT_RUN, f"{command} was not asked")
    verdict, _, rest = expected.partition(":")
    word = verdict.split(",")[0].strip().lower()
    text = said[command]
    if text.split(" ", 1)[0] != word:
        return Judgement(Verdict.WRONG, f"{command} says {text[:200]}")
    if rest and not is_said(rest, text):
        return Judgement(Verdict.GENERIC, f"{command} says {text[:200]}")
    return Judgement(Verdict.RIGHT)


def _severities_of(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z]+", text.lower().split(":")[0].split("(")[0])
    found = frozenset(word for word in words if word in SEVERITIES)
    return found | {"info"} if "healthy" in found else found


def _is_answered(expected: Mapping[str, Any], question: str, answers: Sequence[str]) -> bool:
    patterns: Sequence[str] | None = (expected.get("words") or {}).get(question)
    if patterns is not None:
        return any(all(re.search(pattern, text, re.IGNORECASE) for pattern in patterns) for text in answers)
    sentence = str(expected.get(question) or "")
    return not sentence or any(is_said(sentence, text) for text in answers)


def _find_forbidden(expected: Mapping[str, Any], text: str) -> str | None:
    patterns: Iterable[str] | None = (expected.get("words") or {}).get("must_not_say")
    if patterns is not None:
        return next((pattern for pattern in patterns if re.search(pattern, text, re.IGNORECASE)), None)
    phrases = re.sub(r"\([^)]*\)| as (?:the )?first (?:cause|step)", "", str(expected.get("must_not_say") or ""))
    for phrase in phrases.split(";"):
        words = words_of(phrase)
        if words and all(_has(word, text) for word in words):
            return phrase.strip()
    return None


def is_said(sentence: str, text: str) -> bool:
    """Return whether half of the words of one alternative of the sentence's first clause stand in the text."""
    clause = _ASIDE.sub("", sentence).partition(";")[0]
    alternatives = [words for part in _ALTERNATIVES.split(clause) if (words := words_of(part))]
    return not alternatives or any(
        sum(_has(word, text) for word in words) >= max(min(FEWEST_WORDS, len(words)), len(words) / 2)
        for words in alternatives
    )


def words_of(sentence: str) -> tuple[str, ...]:
    """Return the stems of a sentence's own words."""
    words = _WORD.findall(sentence.lower())
    own = [word for word in words if len(word) >= _SHORTEST_WORD and word not in _EMPTY_WORDS]
    return tuple(dict.fromkeys(_stem(word) for word in own))


def _stem(word: str) -> str:
    stem = _ENDINGS.sub("", word)
    return stem if len(stem) >= _SHORTEST_STEM else word


def _has(stem: str, text: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(stem)}", text.lower()) is not None
