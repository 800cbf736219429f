"""Words of a text as terms: small letters, without their endings, and with one term for words that mean the same.

Questions and texts go through the same function, so that "restarts" finds "restarted".
"""

from functools import lru_cache
from itertools import pairwise

_LONGEST_WORD = 40
_SHORTEST_STEM = 3
_NUMBER_LENGTHS = range(3, 6)
"""Shorter numbers count something, longer ones are times and ids; between them are exit codes, statuses and ports."""

_EVERYDAY = """
aren couldn didn doesn don hasn haven shouldn wasn wouldn
a about across actually after again ago all almost along already also although always am among an and another any
anything anyway are arent around as at away back basically be because been before being bit both but by can cannot
cant certain clearly completely correctly could couldnt day days did didnt do does doesnt doing done dont either else
enough especially eventually ever every everybody everything exactly few find finding finds fine for forget forgot
forth found four from get gets getting give gives go goes going got had half happen happened happening happens has
hasnt have havent having he help her here him his hour hours how however i if in instead into is isn isnt issue issues
it its itself just keep keeps kind know let like ll look looking looks lot lots make makes many may maybe me mean
means might minute minutes month months more most much must my need needs no nobody nor normal normally not now
obviously of off often ok okay on once one only onto or other our ours out over own per perhaps please possible
previous previously probably problem problems put question quickly quite rather re really recently right s same say
says see seem seems shall she short should show shows silently simply since six so some somebody somehow someone
something sometimes somewhere soon sort still such sudden suddenly sure t take taken takes taking tell tells ten than
that the their theirs them then there these they thing things this those though three through thus time times to today
together tomorrow tonight too tool totally tried try trying two under unfortunately until up us use used uses using
usual usually ve very want wants was wasnt way ways we week weeks weird well were what whatever when where whether
which while who whole whom whose why will with within without won wont work worked working works would year years yes
yesterday yet you your
"""
"""Words that say nothing of what a question is about."""

_STOPWORDS = frozenset(_EVERYDAY.split())

_PHRASES = (
    ("time out", "timeout"),
    ("timed out", "timeout"),
    ("times out", "timeout"),
    ("run out of", "full"),
    ("ran out of", "full"),
    ("no space left", "no space left full"),
    ("health check", "healthcheck"),
    ("too long", "slow"),
    ("exit status", "exit code"),
    ("look up", "lookup"),
    ("set up", "setup"),
    ("log in", "login"),
    ("read only", "readonly"),
)
"""Words that belong together; in small letters."""

_SAME = {
    term: name
    for name, terms in {
        "memory": "mem ram",
        "certificate": "cert certs",
        "tls": "ssl",
        "database": "db dbs databases",
        "config": "conf configuration configurations configure configured configs settings setting",
        "password": "passwd passwords passphrase",
        "environment": "env envs",
        "disk": "disc storage disks",
        "quiet": "mute muted mutes silence silenced silences silencing snooze suppress",
        "crash": "crashed crashes crashing crashloop",
        "hang": "hung hangs stuck unresponsive",
        "message": "msg messages notification notifications",
        "permission": "perm perms permissions",
        "auth": "authentication authenticate authenticated login logins",
        "healthcheck": "healthchecks probe probes",
        "dns": "resolve resolves resolver resolving resolution lookup",
        "slow": "slowly slowness latency latencies sluggish",
        "docker": "dockerd",
        "postgres": "postgresql psql pg",
        "compose": "docker-compose",
        "secret": "secrets credential credentials",
        "daemon": "daemons",
        "engine": "engines",
        "limit": "limits limited quota quotas",
        "state": "states status statuses",
        "run": "ran runs running",
        "write": "wrote written writes writing",
        "restart": "reboot reboots rebooted rebooting restarts restarted restarting",
        "pause": "froze freeze freezes frozen paused pauses suspend suspended",
        "mask": "masked masks masking redact redacted redaction anonymise anonymize anonymised anonymized hide hidden",
        "upgrade": "upgrades upgraded upgrading update updates updated updating downgrade downgraded rollback",
        "flap": "flaps flapping flip flips flipping toggle toggles toggling alternate alternates",
        "miss": "missed misses skip skipped skips skipping overdue",
        "extra": "orphan orphans orphaned leftover leftovers",
        "watchdog": "heartbeat heartbeats deadman",
        "reply": "replies replied answer answers answered answering response responses respond responds",
        "directory": "directories folder folders dir dirs",
        "host": "hosts machine machines server servers",
        "wrong": "bad invalid incorrect",
        "remove": "removed removes removal delete deleted deletes uninstall uninstalled",
        "start": "starts started starting launch launched began begin begins",
        "differ": "differs different difference differences deviate deviates deviation mismatch",
        "send": "sends sent sending deliver delivered",
        "kill": "kills killed killing terminate terminated",
        "cluster": "clusters clustered",
        "usb": "dongle dongles stick sticks adapter adapters",
        "own": "owned owns owner owners",
        "graph": "graphs panel panels chart charts dashboard dashboards",
        "error": "errors failure failures fail fails failed failing broken break breaks broke",
    }.items()
    for term in terms.split()
}
"""Words of the field that mean the same."""


def find_terms(text: str) -> list[str]:
    """Return the terms of a text in their order; names such as oom_killed or OutOfMemoryError count by their words."""
    words = " ".join(word if word.islower() else _split_name(word) for word in text.translate(_ONLY_WORDS).split())
    for phrase, word in _PHRASES:
        words = words.replace(phrase, word)
    return [term for word in words.split() if (term := _find_term(word))]


class _OnlyWords(dict[int, int]):
    """Translates all but letters and digits to spaces."""

    def __missing__(self, code: int) -> int:
        self[code] = translated = code if chr(code).isalnum() else ord(" ")
        return translated


_ONLY_WORDS = _OnlyWords()


@lru_cache(maxsize=4096)
def _split_name(word: str) -> str:
    """Return a word in small letters, with a space wherever a small letter meets a capital one: `restartLoop`."""
    parts = [f" {after}" if before.islower() and after.isupper() else after for before, after in pairwise(word)]
    return f"{word[0]}{''.join(parts)}".lower()


@lru_cache(maxsize=16384)
def _find_term(word: str) -> str:
    """Return the term of a word in small letters; nothing for one that says nothing."""
    if word in _STOPWORDS or len(word) > _LONGEST_WORD or len(word) == 1:
        return ""
    if word.isdigit() and len(word) not in _NUMBER_LENGTHS:
        return ""
    return _cut_ending(_SAME.get(word, word))


def _cut_ending(word: str) -> str:
    """Return a word without the endings of plural, past and -ing; crude, but the same for all forms of a word."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < _SHORTEST_STEM or (ending == "s" and stem[-1] in "su"):
            continue
        word = stem + instead
        break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]  # stopped, running
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == "e" else word
