"""What a failure looks like in a line that carries no level."""

import re2

TRIGGERS: tuple[str, ...] = (
    r"(?i)error|\berr\b|fatal|panic|exception|traceback|fail|\bcrit\b|critical|severe|emerg|\balert\b|abort",
    "core dumped",
    r"(?i)unable to|cannot|can't|could not|couldn't|unhandled|uncaught|\bdied\b|crashed|terminating with",
    r"CRASH REPORT|SUPERVISOR REPORT| E! |\[[EF]\] |^\[[EC] |^\(C\) ",
    r'"(?:level|lvl)": ?"?(?:[56]0|[3]|[45]\d0)\b|"s": ?"[EF]"',
    r"^[EF]\d{4} \d\d:\d\d:|^<[0-3]>|^%[0-3]\||^\d{4}-\d\d-\d\dT\S+ [EF] |HTTP/[\d.]+\" 5\d\d ",
    r"\((?:\w+::)*\w+(?:Invalid|NotFound|Refused|Timeout|Failed)\)$|^\w+(?:\.\w+)*\.\w*(?:Invalid|NotFound|Refused): ",
)
"""Searched in whole buffers: a line that none of them finds is neither an error nor worse."""

TRACE_LINES = 3
_TRACE_HEADS = (
    r"Traceback \(most recent call last\)",
    r"^panic: ",
    r"^fatal error: ",
    r"panicked at ",
    r'Exception in thread "',
    r"(?i)\b(?:unhandled|uncaught) (?:promise )?(?:exception|rejection|error)",
    r"(?i)core dumped|^aborted\b",
    r"(?i)\bPHP (?:Fatal|Parse) error",
    r"\bERR!",
    r"^\*\* \((?:\w+\.)*\w+\) ",
    r"\((?:\w+::)*[A-Z]\w*(?:Error|Exception|Invalid|NotFound|Refused|Timeout)\)$",
)
_SENTENCES = (
    r"^(?:[\w./@-]+: )?(?:Uncaught |Unhandled |Caused by: |--> |---> )?(?:[\w$]+(?:\.|::))*\w*(?:Exception|Error)"
    r"(?::|$| )",
    r"(?i)^(?:\S+: |\[[^\]]*\] ?|[\d:.,TZ/+-]+ ){0,4}(?:error|fatal|critical|failed|failure|emergency|panic)\b",
    r"(?i)(?:^|[:.;] |\] |\d )(?:cannot|can't|could not|couldn't|unable to|failed to) ",
    r"(?i)\b(?:errors?|failed|failure)\b[^=]*: ",
    r"(?i)\b(?:has |have |was |were )?failed\b(?: with| to| after|:|,|$|\.|!)",
    r"(?i)\bfatal(?: error)?\b|\bERROR\b",
    r"(?i)\b(?:has |have )?(?:crashed|died|aborted unexpectedly|terminated unexpectedly|exited unexpectedly)\b",
    r"(?i)\bexited with (?:non-zero )?(?:code|status) [1-9]|\bexit(?:ed with)? (?:code|status)[ :=]+[1-9]",
)
_FAILURE = re2.compile("|".join(f"(?:{part})" for part in (*_TRACE_HEADS, *_SENTENCES)))
_HARMLESS = re2.compile(
    "(?i)"
    r"error[_.-]?log|log[_-]error|/error\b|on_?error|stderr|error[_ -]?(?:handl|report|page|rate|count|level)\w*"
    r"|errors? (?:were |was )?(?:fixed|recovered|corrected|ignored)|retry on (?:error|failure)"
    r"|\b(?:if|when|unless|until|in case) .*(?:fail|error)|fail(?:ed)?[_-]?(?:over|safe|fast|timeout|count)"
    r"|\b(?:may|might|can|could|would|should|will|to) (?:\w+ )?(?:fail|cause|error)|ErrorMessage \{"
    r"|ignor(?:e|ed|ing)\b.*(?:error|fail)|(?:error|fail\w*)\b.*\bignored|no longer (?:fail|error)"
)
_NAMES = re2.compile(
    "(?i)"
    r"(?:--?|[\w.:-]*/|[\w.-]*_)[\w./=-]*(?:error|fail|fatal|panic|abort|critical|exception)[\w./=-]*"
    r"|\b[\w-]*(?:errors?|failures?|fatal|exceptions?)[\w-]*\.(?:log|html?|php|py|js|ts|rb|go|java|txt|json|ya?ml|sh|c)\b"
    r"|'[^' ]*(?:error|fail)[^' ]*'|\"[^\" ]*(?:error|fail)[^\" ]*\""
)
"""Paths, options, identifiers and quoted words: a trigger word inside them is a name."""
_LOUD = re2.compile("|".join(f"(?:{part})" for part in _TRACE_HEADS))
_LOST_ANSWER = re2.compile(r'HTTP/[\d.]+" (?:500|502|504|507|508)\b')


def looks_like_failure(text: str, line_count: int) -> bool:
    """Whether a line without a level reports a failure by its shape.

    Args:
        text: The first line of the event.
        line_count: Lines of the event; a trace below it makes a failure of an exception's name.
    """
    head = text[:2000]
    if _FAILURE.search(head) is None:
        return False
    if _LOUD.search(head) is not None:
        return True
    if _FAILURE.search(_NAMES.sub("", head)) is None:
        return False
    return line_count >= TRACE_LINES or _HARMLESS.search(head) is None


def is_lost_answer(text: str) -> bool:
    """Whether an access line says that the service itself failed; 503 is also said while starting or draining."""
    return _LOST_ANSWER.search(text) is not None
