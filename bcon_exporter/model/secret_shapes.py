"""What secrets look like, whatever name they stand under: URL passwords, keys, tokens, hashes.

Every pattern is RE2 (linear time) and stays within one line; a match is replaced whole or in its named part.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MASK = "***"
MOST_MATCHES = 60
"""A line with more than so many matches of one rule is masked from there on: work without bound helps an attacker."""
_AUTHORITY_END = re.compile("[/?#,]")

Replace = Callable[[Any], str]
"""Takes a match, returns its replacement; must return an already masked match as it is."""

_ISSUED = "|".join(
    (
        r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{12,}",
        r"AIza[0-9A-Za-z_\-]{30,}",
        r"ya29\.[0-9A-Za-z_\-]{10,}",
        r"GOCSPX-[0-9A-Za-z_\-]{20,}",
        r"1//0[0-9A-Za-z_\-]{20,}",
        r"gh[pousr]_[A-Za-z0-9]{16,}",
        r"github_pat_[A-Za-z0-9_]{16,}",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.\-]{16,}",
        r"GR1348941[A-Za-z0-9_\-]{16,}",
        r"xox[abeoprs]-[A-Za-z0-9\-]{8,}",
        r"xoxe\.xox[bp]-[A-Za-z0-9\-]{8,}",
        r"xapp-[0-9]-[A-Za-z0-9\-]{8,}",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{8,}",
        r"whsec_[A-Za-z0-9+/=]{16,}",
        r"sk-(?:proj|ant|or|svcacct|admin)-[A-Za-z0-9_\-]{16,}",
        r"sk-[A-Za-z0-9]{20,}",
        r"npm_[A-Za-z0-9]{20,}",
        r"pypi-[A-Za-z0-9_\-]{16,}",
        r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{16,}",
        r"hv[sbr]\.[A-Za-z0-9_\-]{16,}",
        r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
        r"key-[0-9a-f]{32}",
        r"SK[0-9a-f]{32}",
        r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{16,}",
        r"do[opr]_v1_[0-9a-f]{32,}",
        r"lin_api_[A-Za-z0-9]{16,}",
        r"ntn_[A-Za-z0-9]{20,}",
        r"hf_[A-Za-z0-9]{20,}",
        r"r8_[A-Za-z0-9]{20,}",
        r"gsk_[A-Za-z0-9]{20,}",
        r"xai-[A-Za-z0-9]{20,}",
        r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
        r"sq0(?:atp|csp)-[0-9A-Za-z_\-]{16,}",
        r"PMAK-[0-9a-f\-]{16,}",
        r"NRAK-[A-Z0-9]{16,}",
        r"gls[a]_[A-Za-z0-9_]{16,}",
        r"glc_[A-Za-z0-9+/=]{16,}",
        r"dapi[0-9a-f]{32}",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{16,}",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.\-]{16,}",
        r"sbp_[0-9a-f]{20,}",
        r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.\-]{16,}",
        r"rubygems_[0-9a-f]{20,}",
        r"nfp_[A-Za-z0-9]{16,}",
        r"figd_[A-Za-z0-9_\-]{16,}",
        r"ATATT3[A-Za-z0-9_=\-]{20,}",
        r"ATBB[A-Za-z0-9]{16,}",
        r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{16,}",
        r"EAA[A-Za-z0-9]{40,}",
        r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,}",
        r"[MNO][A-Za-z0-9_\-]{22,}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}",
        r"[A-Za-z0-9_~.\-]{3}[78]Q~[A-Za-z0-9_~.\-]{30,}",
        r"[A-Za-z0-9+/]{86}==",
        r"eyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*){0,3}",
    )
)
_HASHES = "|".join(
    (
        r"\$+2[abxy]?\$+[0-9]{1,2}\$+[./A-Za-z0-9]{20,}",
        r"\$+argon2(?:id|i|d)\$+[^\s\"',;]+",
        r"\$+(?:1|5|6|7|y|gy|md5|sha1|apr1|P|H|S|scrypt|pbkdf2[a-z0-9\-]*)\$+[./A-Za-z0-9=,\-]*(?:\$+[./A-Za-z0-9+=]*)*[./A-Za-z0-9+=]{12,}",
        r"\{(?:SSHA|SHA|SMD5|MD5|CRYPT|PBKDF2|SSHA256|SSHA512|SHA256|SHA512|PKCS5S2)\}[A-Za-z0-9+/=$.,]{12,}",
        r"(?:pbkdf2|scrypt|argon2|bcrypt)[_:][a-z0-9:_]*\$+[^\s\"',;]{12,}",
        r"SCRAM-SHA-(?:1|256|512)\$[0-9]+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=:]+",
    )
)


def _whole(_match: Any) -> str:
    return MASK


def _first_group(match: Any) -> str:
    return str(match.group(1)) + MASK


def _mixed_only(match: Any) -> str:
    """Mask a word only when it has digits and letters of both cases: no name of a method has."""
    word = str(match.group())
    kinds = (str.isdigit, str.islower, str.isupper)
    return MASK if all(any(map(kind, word[2:])) for kind in kinds) else word


def _is_basic(encoded: str) -> bool:
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded


def _basic(match: Any) -> str:
    return f"{match.group(1)}{MASK}" if _is_basic(match.group(2)) else str(match.group())


def _bearer(match: Any) -> str:
    value = match.group(2)
    plain = (value.isalpha() and (value.islower() or value.istitle())) or "=" in value.rstrip("=")
    return str(match.group()) if plain else f"{match.group(1)}{MASK}"


def looks_random(value: str) -> bool:
    """Return whether a word looks generated: long enough, with letters of both cases, digits or base64 signs."""
    if len(value) < 8:  # noqa: PLR2004 - shorter ones are words and counters
        return False
    kinds = (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(c in "+/=_" for c in value)
    )
    return kinds >= 2 and not value.isdigit() and not value.istitle()  # noqa: PLR2004 - of four kinds


def _mask_authority(authority: str) -> str:
    user_info, at, host = authority.rpartition("@")
    if not at:
        return authority
    user, colon, _password = user_info.partition(":")
    if colon:
        return f"{user}:{MASK}@{host}"
    return f"{MASK}@{host}" if looks_random(user) and len(user) >= 16 else authority  # noqa: PLR2004 - a token as user


def _url(match: Any) -> str:
    """Mask the passwords in a run without blanks that holds URLs, those with an unescaped slash in them too."""
    run = str(match.group())
    done: list[str] = []
    position = at = 0
    while (found := run.find("://", position)) >= 0:
        if len(done) > 2 * MOST_MATCHES:
            return "".join(done) + MASK
        start = found + 3
        stop = _AUTHORITY_END.search(run, start)
        end = stop.start() if stop else len(run)
        authority = run[start:end]
        done.append(run[position:start])
        position = end
        if "@" in authority:
            done.append(_mask_authority(authority))
            continue
        if 0 <= at < end:
            at = run.find("@", end)
        host, _, port = authority.partition(":")
        if at >= 0 and port and not port.isdigit() and "]" not in port and "://" not in run[end:at]:
            done.append(f"{host}:{MASK}")
            position = at
        else:
            done.append(authority)
    return "".join(done) + run[position:]


def _host_login(match: Any) -> str:
    return f"{match.group(1)}{MASK}{match.group(2)}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape.

    Attributes:
        hints: Lower-case texts of which one must stand in the line, or the pattern is not tried; none: always tried.
    """

    hints: tuple[str, ...]
    pattern: str
    replace: Replace


SHAPES: tuple[Rule, ...] = (
    Rule(("://",), r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s\"'<>`\\]*@[^\s\"'<>`\\]*", _url),
    Rule(("akia", "asia"), r"(\b(?:AKIA|ASIA)[A-Z0-9]{12,}[^A-Za-z0-9+/\n]{1,8})[A-Za-z0-9+/]{40}\b", _first_group),
    Rule((), rf"\b(?:{_ISSUED})", _whole),
    Rule(("s.",), r"\bs\.[A-Za-z0-9]{24}\b", _mixed_only),
    Rule(("$", "}"), _HASHES, _whole),
    Rule(("bearer",), r"(?i)\b(bearer[ \t]+)([A-Za-z0-9._~+/=\-]{8,})", _bearer),
    Rule(("basic",), r"(?i)\b(basic[ \t]+)([A-Za-z0-9+/=]{8,})", _basic),
    Rule(("hooks.slack",), r"(hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_\-]+", _first_group),
    Rule(("discord",), r"(discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/)[A-Za-z0-9_\-]+", _first_group),
    Rule((".webhook.office",), r"(\.webhook\.office\.com/webhookb2/)[^\s\"']+", _first_group),
    Rule(("jdbc:oracle",), r"(jdbc:oracle:[a-z]+:[^/\s:@]+/)[^@\s]+", _first_group),
    Rule(("@tcp(", "@unix(", "@udp("), r"(\b[A-Za-z0-9_.\-]+:)[^\s@:/\"']+(@(?:tcp|unix|udp)\()", _host_login),
    Rule(("@",), r"(\b[A-Za-z0-9_.\-]+:)[^\s@:/\"']+(@[A-Za-z0-9_.\-]+:[0-9]{2,5}\b)", _host_login),
)


def _loosen(pattern: str) -> str:
    """Drop counts: they cost a linear matcher most, and a search that asks "at all?" can do without."""
    return re.sub(r"\{[0-9]+(?:,[0-9]*)?\}", "+", pattern).replace("(?i)", "")


def make_trigger(rules: tuple[Rule, ...]) -> str:
    """Return a pattern that matches wherever one of the rules may, at a fraction of the cost."""
    return "|".join(f"(?i:{_loosen(r.pattern)})" if "(?i)" in r.pattern else f"(?:{_loosen(r.pattern)})" for r in rules)
