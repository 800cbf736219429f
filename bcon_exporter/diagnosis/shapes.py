"""What a failure looks like in a line that carries no level."""

import re2

TRIGGERS: tuple[str, ...] = (
    r"(?i)error|\berr\b|fatal|panic|exception|traceback|fail|\bcrit\b|critical|severe|emerg|\balert\b|abort|core dumped"
    r"|unable to|cannot|can't|could not|unhandled|uncaught",
    r'"(?:level|lvl)": ?"?[56]0\b|"s": ?"[EF]"',
    r"^[EF]\d{4} \d\d:\d\d:|^<[0-3]>|^\d{4}-\d\d-\d\dT\S+ [EF] ",
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
)
_SENTENCES = (
    r"^(?:[\w./@-]+: )?(?:Uncaught |Unhandled |Caused by: )?(?:[\w$]+\.)*\w*(?:Exception|Error)(?::|$| )",
    r"(?i)^(?:\S+: ){0,2}(?:error|fatal|critical|failed|failure|emergency|panic)\b",
    r"(?i)^(?:\S+: ){0,2}(?:cannot|can't|could not|couldn't|unable to) ",
    r"(?i)\b(?:error|failed|failure)\b[^=]*: ",
    r"(?i)\b(?:has |have )?failed\b(?: with| to|:|$|\.)",
    r"(?i)\bfatal(?: error)?\b|\bERROR\b",
)
_FAILURE = re2.compile("|".join(f"(?:{part})" for part in (*_TRACE_HEADS, *_SENTENCES)))
_HARMLESS = re2.compile(
    r"(?i)error[_.-]?log|log[_-]error|/error\b|on_?error|stderr|error[_ -]?(?:handl|report|page|rate|count|level)\w*"
    r"|errors? (?:were |was )?(?:fixed|recovered|corrected|ignored)|if .{0,40}fails?\b|retry on (?:error|failure)"
    r"|fail(?:ed)?[_-]?(?:over|safe|fast|timeout|count)|ErrorMessage \{"
)
_LOUD = re2.compile("|".join(f"(?:{part})" for part in _TRACE_HEADS))


def looks_like_failure(text: str, line_count: int) -> bool:
    """Whether a line without a level reports a failure by its shape.

    Args:
        text: The first line of the event.
        line_count: Lines of the event; a trace below it makes a failure of an exception's name.
    """
    head = text[:2000]
    if _FAILURE.search(head) is None:
        return False
    if _LOUD.search(head) is not None or line_count >= TRACE_LINES:
        return True
    return _HARMLESS.search(head) is None
