"""Words of a text as terms: small letters, without their endings, and with one term for words that mean the same.

Questions and texts go through the same function, so that "restarts" finds "restarted".
"""

from functools import lru_cache
from itertools import pairwise

_LONGEST_WORD = 40
_SHORTEST_STEM = 3
_LONGEST_NUMBER = 5

_STOPWORDS = frozenset(
    "a about after again all also am an and any anything are as at be because been before being but by can cannot could"
    " did do does doing done else ever every everything few for from get gets getting give gives go goes going got had"
    " has have having he help her here him his how however i if in into is isn it its itself just keep keeps know let"
    " like ll make makes many may me mean means might more most much must my need needs no nor not now of off on once"
    " one only onto or other our out over own per please put re really s same say says see seem seems shall she should"
    " show shows since so some someone something still such t tell tells than that the their them then there these they"
    " thing things this those though through to too try trying under until up us use used uses using ve very want wants"
    " was way we well were what whatever when where whether which while who whom whose why will with within without"
    " won would yes yet you your".split()
)

_PHRASES = (
    ("time-out", "timeout"),
    ("time out", "timeout"),
    ("timed out", "timeout"),
    ("times out", "timeout"),
    ("run out of", "full"),
    ("ran out of", "full"),
    ("no space left", "no space left full"),
    ("health check", "healthcheck"),
    ("health-check", "healthcheck"),
    ("look up", "lookup"),
    ("set up", "setup"),
    ("log in", "login"),
    ("read-only", "readonly"),
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
        "hang": "hung hangs stuck freeze freezes frozen unresponsive",
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
    }.items()
    for term in terms.split()
}
"""Words of the field that mean the same."""


def find_terms(text: str) -> list[str]:
    """Return the terms of a text in their order; names such as oom_killed or OutOfMemoryError count by their words."""
    small = _split_names(text).lower()
    for phrase, word in _PHRASES:
        small = small.replace(phrase, word)
    words = "".join(char if char.isalnum() else " " for char in small.replace("'", "")).split()
    return [term for word in words if (term := _find_term(word))]


def _split_names(text: str) -> str:
    """Return a text with a space wherever a small letter meets a capital one: `restartLoop`."""
    if not any(before.islower() and after.isupper() for before, after in pairwise(text)):
        return text
    parts = [text[0]]
    for before, after in pairwise(text):
        parts.append(f" {after}" if before.islower() and after.isupper() else after)
    return "".join(parts)


@lru_cache(maxsize=16384)
def _find_term(word: str) -> str:
    """Return the term of a word in small letters; nothing for one that says nothing."""
    if word in _STOPWORDS or len(word) > _LONGEST_WORD or len(word) == 1:
        return ""
    if word.isdigit() and len(word) > _LONGEST_NUMBER:
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
