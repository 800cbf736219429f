"""Recognises failures by the shape of a line that has no level."""

import re2

TRIGGERS: tuple[str, ...] = (
    r"(?i)error|\berr\b|fatal|panic|exception|traceback|fail|\bcrit\b|critical|severe|emerg|\balert\b|abort",
    r"core dumped|^(?:ERRO|FATA|PANI)\[|\bFTL\b|\bCRT\b",
    r"(?i:exit(?:ed)? (?:with )?(?:abnormal )?(?:code|status)|(?:by|on) signal)",
    r"\b(?:FEHLER|ERREUR|ERRO|ERRORE|FATALE|PANIK|PANIQUE|ОШИБКА|ВАЖНО|ПАНИКА): |(?i:abnormally)",
    r"(?i)unable to|cannot|can't|could not|couldn't|unhandled|uncaught|\bdied\b|crashed|terminating with",
    r" at \S+\.(?:pl|pm|cgi|t) line \d|CRASH REPORT|SUPERVISOR REPORT| E! |\[[EF]\] |^\[[EC] |^\(C\) ",
    r"^\s*(?:\[[✗✘]\]|[✗✘❌])",
    r'"(?:level|lvl)": ?"?(?:[56]0|[3]|[45]\d0)\b|"s": ?"[EF]"',
    r"^[EF]\d{4,6} \d\d:\d\d:|^<[0-3]>|^%[0-3]\||^\d{4}-\d\d-\d\dT\S+ [EF] |HTTP/[\d.]+\" 5\d\d |\| 5\d\d \|",
    r"\((?:\w+::)*\w+(?:Invalid|NotFound|Refused|Timeout|Failed)\)$|^[a-z_]\w*(?:\.\w+)*\.\w*"
    r"(?:Invalid\w*|NotFound|DoesNotExist|Missing|Refused|Denied|Unauthorized|Forbidden|Timeout|Failed|Unavailable): ",
)
"""Searched in whole buffers: a line that none of these matches is neither an error nor worse."""

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
    r"^(?:[\w$]+(?:\.|::))*[A-Z]\w*(?:Exception|Error)(?:\$\w+)?: ",
    r" at \S+\.(?:pl|pm|cgi|t) line \d+\.?$",
    r"\((?:\w+::)*[A-Z]\w*(?:Error|Exception|Invalid|NotFound|Refused|Timeout)\)$",
    r"^[a-z_]\w*(?:\.\w+)*\.(?:[A-Z]\w*)?"
    r"(?:Invalid\w*|NotFound|DoesNotExist|Missing|Refused|Denied|Unauthorized|Forbidden|Timeout|Failed|Unavailable): ",
    r"^\[\w*Error(?: \[\w+\])?\]:? |^\{\"errors?\": ?[\[{]",
)
_SENTENCES = (
    r"^\s*(?:\[[✗✘]\]|[✗✘❌]) ",
    r"^(?:[\w./@-]+: )?(?:Uncaught |Unhandled |Caused by: |--> |---> )?(?:[\w$]+(?:\.|::))*\w*(?:Exception|Error)"
    r"(?::|$| )",
    r"(?i)^(?:\S+: |\[[^\]]*\] ?|[\d:.,TZ/+-]+ ){0,4}(?:error|fatal|critical|failed|failure|emergency|panic)\b",
    r"(?i)(?:^|[:.;] |\] |\d )(?:cannot|can't|could not|couldn't|unable to|failed to) ",
    r"(?i)\b(?:errors?|failed|failure)\b[^=]*: ",
    r"(?i)\b(?:has |have |was |were )?failed\b(?: with| to| after|:|,|$|\.|!)",
    r"\bERROR\b|(?i:\bfatal(?: error)?\b)",
    r"(?i)\b(?:error|exception)s? (?:while|when|during|occurred|happened|was |loading|reading|writing|creating)",
    r"(?i)\b(?:error|exception)s? (?:opening|parsing|processing|starting|connecting|executing|running|sending)",
    r"(?i)\b(?:internal|unexpected|unknown|runtime|system|server|syntax|assertion|i/o|disk|boot) error\b",
    r"(?i)\b(?:with|returned|got|threw|raised) (?:an? |the )?(?:\w+ )?(?:error|exception)\b",
    r"(?i)\berror (?:code )?-?\d",
    r"(?i)\b(?:terminated|exited|ended|stopped|died) abnormally\b|\babnormal(?:ly)? (?:termination|terminated)\b",
    r"(?i)\b(?:has |have )?(?:crashed|died|aborted unexpectedly|terminated unexpectedly|exited unexpectedly)\b",
    r"(?i)\bexited with (?:non-zero |abnormal |error )?(?:exit )?(?:code|status):? [1-9]"
    r"|\bexit(?:ed with)? (?:code|status)[ :=]+[1-9]",
    r"\.{3,} ?[\d.,]+ ?(?:ms|s) FAIL(?:ED)?$",
)
_FAILURE = re2.compile("|".join(f"(?:{part})" for part in (*_TRACE_HEADS, *_SENTENCES)))
_HARMLESS = re2.compile(
    "(?i)"
    r"error[_.-]?log|log[_-]error|/error\b|\bon_?error|stderr|error[_ -]?(?:handl|report|page|rate|count|level)\w*"
    r"|errors? (?:were |was )?(?:fixed|recovered|corrected|ignored)|retry on (?:error|failure)"
    r"|\b(?:if|when|unless|until|in case) .*(?:fail|error)|fail(?:ed)?[_-]?(?:over|safe|fast|timeout|count)"
    r"|\b(?:may|might|can|could|would|should|will|to) (?:\w+ )?(?:fail|cause|error)|ErrorMessage \{"
    r"|\b(?:errors?|exceptions?) (?:tracking|monitoring|logging|reporting|messages?|codes?|budget|boundar|correction"
    r"|recovery|margin|template)|\(Allocation Failure\)|\berror-free\b|^critical dependency:"
    r"|\btest result (?:failed|ok)\b|\bpref=\d+"
    r"|\b(?:panic|fatal|errors?|abort|crash|failure) (?:mode|reporters?|detect\w+|handlers?|thresholds?)\b"
    r"|^\s*(?:ok \d|not ok|# Subtest|✓|✔|√|--- PASS|PASS\b|- )|nothing failed|none failed"
    r"|ignor(?:e|ed|ing)\b.*(?:error|fail)|(?:error|fail\w*)\b.*\bignored|no longer (?:fail|error)"
)
_NAMES = re2.compile(
    "(?i)"
    r"(?:--?|[\w.:-]*/|[\w.-]*_)[\w./=-]*(?:error|fail|fatal|panic|abort|critical|exception)[\w./=-]*"
    r"|\b[\w-]*(?:errors?|failures?|fatal|exceptions?)[\w-]*\.(?:log|html?|php|py|js|ts|rb|go|java|txt|json|ya?ml|sh|c)\b"
    r"|(?-i:\b(?:[a-z0-9_-]+\.)+[a-z0-9_-]*(?:error|fail)[a-z0-9_-]*(?:[^\w:]|$)|\b(?:error|failure)s?\.[a-z][\w.-]*)"
    r"|(?-i:\b[a-z0-9-]*(?:error|fail|fatal|panic|crash|abort)[a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,12}(?:[^\w:(.]|$))"
    r"|'[^' ]*(?:error|fail)[^' ]*'|\"[^\" ]*(?:error|fail)[^\" ]*\""
)
"""Paths, options, identifiers and quoted words: a trigger word inside them is a name."""
_LOUD = re2.compile("|".join(f"(?:{part})" for part in _TRACE_HEADS))
_LOST_ANSWER = re2.compile(r'(?:HTTP/[\d.]+"|\[GIN\] [^|]*\|) (?:500|502|504|507|508)\b')
_ENDS_IN_ERROR = re2.compile(r"(?i)\berror[.!]?$")
_TIMED_OUT_ANSWER = re2.compile(r'HTTP/[\d.]+" 504\b')
_FATAL = re2.compile(
    r"(?i)\bfatal error\b|crashed by signal|core dumped|panicked at |\bunrecoverable\b|wrong signature trying to load"
    r"|(?:terminated|killed|exited) (?:by|on) signal (?:6|7|8|11)\b"
)


def looks_like_failure(text: str) -> bool:
    """Whether a line without a level reports a failure by its shape."""
    head = text[:2000]
    if _FAILURE.search(head) is None:
        return False
    if _LOUD.search(head) is not None:
        return True
    if _FAILURE.search(_NAMES.sub("", head)) is None:
        return False
    return _HARMLESS.search(head) is None


def names_failure(message: str) -> bool:
    """Whether the message of a line above level INFO reports a failure: "Background saving error"."""
    return _ENDS_IN_ERROR.search(message) is not None or looks_like_failure(message)


def is_fatal(text: str) -> bool:
    """Whether a line of level warning reports the end of the program: some loggers have no worse level."""
    return _FATAL.search(text) is not None


def is_lost_answer(text: str) -> bool:
    """Whether an access line reports a failure of the service itself; 503 is also usual while starting or draining."""
    return _LOST_ANSWER.search(text) is not None


def is_timed_out_answer(text: str) -> bool:
    """Whether a proxy's access line reports that the service behind it did not answer in time."""
    return _TIMED_OUT_ANSWER.search(text) is not None
