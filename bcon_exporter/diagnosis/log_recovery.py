"""Finds what has recovered: failures that were retried with success, or that precede the last good start."""

from typing import NamedTuple

from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.model.signatures import Level
from bcon_exporter.regexes import compile_pattern

_RECOVERED = compile_pattern(
    "(?i)"
    r"\b(?:re-?)?connected(?: successfully)?(?: to| after| with|!|\.|,|;|\"|$)|\b(?:is |was )?connected\b.*after"
    r"|connection (?:to \S+ )?(?:has been |was |is )?(?:re-?)?(?:established|restored|succeeded|successful|recovered)"
    r"|\b(?:initiali[sz]ation|login|handshake|migration) (?:was |is )?successful\b"
    r"|connection (?:to \S+ )?(?:is )?(?:ok|up)\b|successfully (?:re-?)?connected|is UP\b"
    r"|(?:is|are|came|back) (?:now )?(?:up|online|available|ready|reachable|back|alive|healthy)\b"
    r"|\brecovered\b|\brestored\b|succeeded (?:at|after|on|in)|(?:retry|attempt) #?\d+ (?:of \d+ )?(?:succeeded|ok)"
    r"|(?:retry|attempt|sync|flush|upload|send|backup|request)\w* .*(?:succeeded|successful)\b|back to normal"
    r"|\bon attempt \d|\bafter \d+ (?:attempts?|retries|tries|failures)|became (?:available|reachable|healthy)"
    r"|successfully (?:re-?)?(?:joined|registered|subscribed|synced|synchronized|authenticated|elected)"
    r"|discovered (?:group )?coordinator"
    r"|(?:re-?)joined .*successfully|session establishment complete"
    r"|\bre-?opened\b|\b(?:web ?socket|connection|channel|stream|tunnel|link) (?:was |is )?(?:re-?)?opened\b"
    r"|\bregistered tunnel\b|\bkeypair \d+ created|\bnew connection to server\b"
    r"|\b(?:database|db|postgres\w*|mysql|mariadb|broker|rabbitmq|kafka|redis|backend|upstream|peer)\b:?(?: \S+)?"
    r" (?:available|ready|up|reachable|online)\b|\b(?:notify|delivery|send) success\b"
    r"|\bsuccessfully (?:\w+ )?(?:acquired|sent|delivered|reached|renewed|fetched)\b|^successfully installed\b"
    r"|\bacquired (?:the )?(?:leader )?(?:leas\w+|leadership)"
    r"|\bstatus=sent\b|\bstat=Sent\b|(?-i:^[\d-]+ [\d:.]+ \S{4,23} (?:Completed$|[=-]> \S+@))"
    r"|(?:REPLICA|SLAVE) sync: (?:Finished|Successful|Master accepted)|partial resynchronization"
)
_READY = compile_pattern(
    "(?i)"
    r"ready (?:to accept|for) connections|(?:server )?start(?:up)? complete|\bready (?:in \d|for start up)"
    r"|\bstarted .* in \[?[\d.]+\]? ?(?:s|ms|sec|milli|seconds)|(?:now )?listening (?:on|at|for)\b|\blisten(?:ing)?: \w+://"
    r"|server (?:is )?(?:started|running|listening|ready)|waiting for (?:connections|logs|messages|jobs)"
    r"|fully up and running|entered RUNNING state|application started|ready to (?:serve|accept|handle|receive)"
    r"|Startup of .* complete|init process complete"
)
_IS_UP = compile_pattern(
    "(?i)"
    r"\bdone \(\d|\binitiali[sz]ation complete"
    r"|\b(?:connection|startup|boot|start) (?:to .{1,40} )?(?:was )?successful\b"
    r"|\bproxy \S+ started\b|\bserver started\b|\bAPI listen on\b|\bready\b[.!]?$|\bup and running\b"
)
"""The end of a start in the words of single programs; of a connection that had failed it says nothing."""
_WORKS = compile_pattern(
    "(?i)"
    r"\bresumed\b|\bhealth ?checks? (?:has )?(?:passed|succeeded)|\bwrote batch\b|\bbus started\b"
    r"|https?://\S+ \"[A-Z]+ \S+ HTTP/[\d.]+\" 2\d\d\b|\bmsg=\"[\w ]{1,30} started\"|\bstatus=\"?(?:ready|healthy)\b"
    r"|\belection won\b|\bleadership acquired\b|, the leader with the lock|\bsynced node info"
    r"|\bpromoted (?:self |itself )?to (?:leader|master|primary)"
    r"|\b(?:became|elected|entering) (?:the |new |state )?(?:leader|master|primary)\b"
)
"""Success after a warning or a retry; after a failed connection these lines do not count."""
_NOT_YET = compile_pattern(
    "(?i)"
    r"\bnot\b|n't\b|no longer|fail|unable|\berror|lost|refus|disconnect|\bnever\b|\buntil\b|\bif\b|\bwhen\b|\bonce\b"
    r"|waiting for (?:it|the|connection to)|should|must|cannot|trying|retrying|attempting"
)
_NO_BAD_NEWS = compile_pattern(
    r"(?i)<[^<>]*>|\S+@\S+|\b(?:last[ _])?(?:fail(?:ed|ures?)|errors?)[\"']?(?: ?[:=]| is| was)? ?"
    r"(?:never|none|0|nil|null)\b"
    r"|\b(?:no|0|zero|without(?: any)?) (?:failures?|errors?)\b"
)
"""Addresses, and counters of failures that are zero."""
_TRY = compile_pattern(
    r"(?i)\b(?:try|tries|attempt|retry)\b(?: number| no\.)? ?[#(:]? ?(\d{1,3}) ?(?:/|of|out of) ?(\d{1,3})\b"
)
_TRY_SUCCEEDED = compile_pattern(
    r"(?i)\b(?:try|attempt|retry) #?\d{1,3} ?(?:/|of|out of) ?\d{1,3}:? (?:has |was )?(?:succeeded|successful|ok)\b"
)
_GIVES_UP = compile_pattern(
    r"(?i)\b(?:giving|gave|given) up\b|\b(?:retries|attempts|tries) (?:are |were )?exhausted\b"
    r"|\bno more (?:retries|attempts|tries)\b|\bafter \d+ (?:retries|attempts|tries)\b"
)
_TRY_WORDS = ("try", "Try", "TRY", "tries", "ttempt", "TTEMPT")
_FAILED_MARKS, _PASSED_MARKS = "✗✘❌", "✓✔✅"
_CHECK_FAILED, _CHECK_PASSED = (
    compile_pattern(rf"^[ \t]*(?:\[[{marks}]\]|[{marks}]) +(\S+ \S+)") for marks in (_FAILED_MARKS, _PASSED_MARKS)
)
_STARTS = compile_pattern(
    "(?i)"
    r"starting (?:PostgreSQL|gunicorn|nginx|MongoDB|\w*server|\w*application|\w+ v?\d|the server|up\b)"
    r"|Redis is starting|MongoDB starting|starting as process|Starting \S+ (?:on|using|v\d)|Entrypoint script"
    r"|:: Spring Boot ::|initiali[sz]ing (?:database|server)|\[cont-init"
)
_ALL_NEWS = (_RECOVERED, _READY, _IS_UP, _WORKS, _STARTS)
_NEWS = compile_pattern("|".join(f"(?:{part.pattern.decode()})" for part in _ALL_NEWS))
"""All patterns in one, to search the whole log once."""
_RETRIES = compile_pattern(
    r"(?i)\bretr(?:y|ying|ies)\b|attempt|try(?:ing)? again|reconnect|will be retried|backing off|starting up"
    r"|recovery mode|\bsleeping\b|\b(?:still )?waiting for\b|\b(?:will|going to) (?:reconnect|retry)"
    r"|\bno (?:cluster )?leader\b|\bempty ring\b|\bre-?opening\b"
)


class Try(NamedTuple):
    """One of several counted attempts: "attempt 2 of 5"."""

    number: int
    limit: int


class Recoveries:
    """The lines of a log that report success, found once for all of its events."""

    def __init__(self, buffer: LineBuffer) -> None:
        news_lines = {index: buffer.line(index) for index in buffer.lines_with(_NEWS)}
        good = [index for index in news_lines if _is_good_news(buffer.texts[index])]
        self._recovered = [index for index in good if _RECOVERED.search(news_lines[index]) is not None]
        self._ready = [index for index in good if _READY.search(news_lines[index]) is not None]
        self._is_up = [index for index in good if _IS_UP.search(news_lines[index]) is not None]
        self._works = [index for index in good if _WORKS.search(news_lines[index]) is not None]
        self._starts = [index for index, raw in news_lines.items() if _STARTS.search(raw) is not None]

    def follow(self, line: int, *, ready_counts: bool) -> bool:
        """Whether a line after `line` says that what failed there works.

        Args:
            line: Index of the failure's last line.
            ready_counts: A service that got ready or gets on counts too: it does not without what it retries.
        """
        if _any_after(self._recovered, line):
            return True
        return ready_counts and (_any_after(self._ready, line) or _any_after(self._works, line))

    def got_ready_after(self, line: int) -> bool:
        """Whether a later line says that the program is ready."""
        return _any_after(self._ready, line) or _any_after(self._is_up, line)

    def last_good_start(self) -> int:
        """Return the index of the line at which the last successful run began; 0 where no such start is seen."""
        if not self._ready:
            return 0
        return max((start for start in self._starts if start < self._ready[-1]), default=0)


def _any_after(indexes: list[int], line: int) -> bool:
    return bool(indexes) and indexes[-1] > line


def _is_good_news(text: str) -> bool:
    if level_of(text) > Level.WARNING:
        return tells_of_success(text)
    raw = text.encode("utf-8", "replace")
    return _NOT_YET.search(raw) is None or _NOT_YET.search(_NO_BAD_NEWS.sub(b" ", raw)) is None


def is_retried(text: str) -> bool:
    """Whether the line itself says that it will be retried."""
    return _RETRIES.search(text.encode("utf-8", "replace")) is not None


def try_of(text: str) -> Try | None:
    """Return the number of an attempt and how many there are; None where the line counts none."""
    if not any(word in text for word in _TRY_WORDS):
        return None
    match = _TRY.search(text.encode("utf-8", "replace"))
    return None if match is None else Try(int(match.group(1)), int(match.group(2)))


def tells_of_success(text: str) -> bool:
    """Whether a line says that a numbered attempt succeeded; some programs log that as an error."""
    return _TRY_SUCCEEDED.search(text.encode("utf-8", "replace")) is not None


def gives_up(text: str) -> bool:
    """Whether a line says that there will be no further attempt."""
    return _GIVES_UP.search(text.encode("utf-8", "replace")) is not None


def subject_of_failed_check(text: str) -> bytes | None:
    """Return the subject of a failed entry in a check list ("[✗] DNS resolution is …"): its first words; else None."""
    if not any(mark in text for mark in _FAILED_MARKS):
        return None
    failed = _CHECK_FAILED.search(text.encode("utf-8", "replace"))
    return None if failed is None else failed.group(1)


def passed_checks(buffer: LineBuffer) -> dict[bytes, int]:
    """Map the subjects of passed entries in check lists to the index of their last line."""
    matches = {index: _CHECK_PASSED.search(buffer.line(index)) for index in buffer.lines_with(_CHECK_PASSED)}
    return {entry.group(1): index for index, entry in matches.items() if entry is not None}
