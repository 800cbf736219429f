"""What is over: a failure that was retried with success, or that stands before the last successful start."""

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.model.automata import compile_pattern
from bcon_exporter.model.signatures import Level

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
_WORKS = compile_pattern(
    "(?i)"
    r"\bresumed\b|\bhealth ?checks? (?:has )?(?:passed|succeeded)|\bwrote batch\b|\bbus started\b"
    r"|https?://\S+ \"[A-Z]+ \S+ HTTP/[\d.]+\" 2\d\d\b|\bmsg=\"[\w ]{1,30} started\"|\bstatus=\"?(?:ready|healthy)\b"
    r"|\belection won\b|\bleadership acquired\b|, the leader with the lock|\bsynced node info"
    r"|\bpromoted (?:self |itself )?to (?:leader|master|primary)"
    r"|\b(?:became|elected|entering) (?:the |new |state )?(?:leader|master|primary)\b"
)
"""What a program that only warned, or retries, says once it gets on; of a failed connection it says less."""
_NOT_YET = compile_pattern(
    "(?i)"
    r"\bnot\b|n't\b|no longer|fail|unable|\berror|lost|refus|disconnect|\bnever\b|\buntil\b|\bif\b|\bwhen\b|\bonce\b"
    r"|waiting for (?:it|the|connection to)|should|must|cannot|trying|retrying|attempting"
)
_STARTS = compile_pattern(
    "(?i)"
    r"starting (?:PostgreSQL|gunicorn|nginx|MongoDB|\w*server|\w*application|\w+ v?\d|the server|up\b)"
    r"|Redis is starting|MongoDB starting|starting as process|Starting \S+ (?:on|using|v\d)|Entrypoint script"
    r"|:: Spring Boot ::|initiali[sz]ing (?:database|server)|\[cont-init"
)
_NEWS = compile_pattern("|".join(f"(?:{part.pattern.decode()})" for part in (_RECOVERED, _READY, _WORKS, _STARTS)))
"""All of these, for one search over the whole log."""
_RETRIES = compile_pattern(
    r"(?i)\bretr(?:y|ying|ies)\b|attempt|try(?:ing)? again|reconnect|will be retried|backing off|starting up"
    r"|recovery mode|\bsleeping\b|\b(?:still )?waiting for\b|\b(?:will|going to) (?:reconnect|retry)"
    r"|\bno (?:cluster )?leader\b|\bempty ring\b|\bre-?opening\b"
)


class Recoveries:
    """The lines of a log that say that something works, found once for all of its events."""

    def __init__(self, buffer: LineBuffer) -> None:
        told = {index: buffer.line(index) for index in buffer.lines_with(_NEWS)}
        good = [index for index in told if _is_good_news(buffer.texts[index])]
        self._recovered = [index for index in good if _RECOVERED.search(told[index]) is not None]
        self._ready = [index for index in good if _READY.search(told[index]) is not None]
        self._works = [index for index in good if _WORKS.search(told[index]) is not None]
        self._starts = [index for index, raw in told.items() if _STARTS.search(raw) is not None]

    def follow(self, line: int, *, ready_counts: bool) -> bool:
        """Whether a line after `line` says that what failed there works.

        Args:
            line: Index of the failure's last line.
            ready_counts: A service that got ready or gets on counts too: it does not without what it retries.
        """
        if _any_after(self._recovered, line):
            return True
        return ready_counts and (_any_after(self._ready, line) or _any_after(self._works, line))

    def last_good_start(self) -> int:
        """Index of the line at which the last run that got ready began; 0 where none is seen to begin anew."""
        if not self._ready:
            return 0
        return max((start for start in self._starts if start < self._ready[-1]), default=0)


def _any_after(indexes: list[int], line: int) -> bool:
    return bool(indexes) and indexes[-1] > line


def _is_good_news(text: str) -> bool:
    return _NOT_YET.search(text.encode("utf-8", "replace")) is None and level_of(text) <= Level.WARNING


def is_retried(text: str) -> bool:
    """Whether the line itself says that it will be tried again."""
    return _RETRIES.search(text.encode("utf-8", "replace")) is not None
