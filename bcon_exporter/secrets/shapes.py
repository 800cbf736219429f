"""Masks secrets by their shape, under any name: passwords in URLs, headers, hashes, parts of keys.

Every pattern is RE2 (linear time) and stays within one line; a match is replaced whole or in its named part. Secrets
that one issuer made are rows of `issuer_tokens`.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bcon_exporter.secrets.issuer_tokens import MASK, MOST_MATCHES, loosen

__all__ = ["MASK", "MOST_MATCHES", "SHAPES", "Replace", "Rule", "looks_random", "make_trigger"]

_AUTHORITY_ENDS = "/?#,"

Replace = Callable[[Any], str]
"""Takes a match, returns its replacement; must return an already masked match as it is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape.

    Attributes:
        hints: Lower-case texts of which one must stand in the line, or the pattern is not tried.
        has_groups: Whether the replacement looks at groups; a large pattern without is many times cheaper.
    """

    hints: tuple[str, ...]
    pattern: str
    replace: Replace
    has_groups: bool = True


_HASHES = "|".join(
    (
        r"\$+2[abxy]?\$+[0-9]{1,2}\$+[./A-Za-z0-9]{20,}",
        r"\$+argon2(?:id|i|d)\$+(?:v=[0-9]+\$+)?[a-z]=[0-9]+(?:,[a-z]+=[^$,\s\"']+)*\$+[^\s\"',;]+",
        r"\$+(?:1|2|3|5|6|7|8|9|14|y|gy|md5|sha1|apr1|P|H|S|A|ml|scram|scrypt|krb5[a-z0-9]*|bcrypt-sha256|pbkdf2[a-z0-9\-]*|"
        r"scrypt[a-z0-9\-]*)\$+[./A-Za-z0-9=,:*@\-]*(?:\$+[./A-Za-z0-9+=:*@]*)*[./A-Za-z0-9+=]{12,}",
        r"\{(?:SSHA|SHA|SMD5|MD5|CRYPT|PBKDF2|SSHA256|SSHA512|SHA256|SHA512|PKCS5S2|ARGON2[A-Z]*|BLF-CRYPT|bcrypt|noop"
        r"|pbkdf2|scrypt|sha256)(?:-[A-Z0-9]+)?\}[A-Za-z0-9+/=$.,{}]{12,}",
        r"(?:pbkdf2|scrypt|argon2|bcrypt)[_:][a-z0-9:_]*\$+[^\s\"',;]{12,}",
        r"\bsha(?:1|256|512)\$[A-Za-z0-9]*\$[0-9a-f]{32,}",
        r"SCRAM-SHA-(?:1|256|512)\$[0-9]+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=:]+",
        r"\bmd5[0-9a-f]{32}\b",  # PostgreSQL
        r"\*[0-9A-F]{40}\b",  # MySQL
        r"\b0x0[12]00[0-9A-Fa-f]{40,}",  # SQL Server
        r"\bS:[0-9A-F]{60}\b",  # Oracle
        r"\b[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:::",  # Windows: LM and NT
    )
)


def _whole(_match: Any) -> str:
    return MASK


def _first_group(match: Any) -> str:
    return str(match.group(1)) + MASK


def _mixed_only(match: Any) -> str:
    """Mask a word with digits and letters of both cases; names of methods have no digits."""
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


def _no_digest(match: Any) -> str:
    """Mask 64 bytes of base64, a key of Azure's storage, unless it is called a digest."""
    return str(match.group()) if match.group(1) else MASK


def looks_random(value: str) -> bool:
    """Return whether a word looks generated: long enough, with letters of both cases, digits or base64 signs."""
    if len(value) < 8:
        return False
    kinds = (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(c in "+/=_" for c in value)
    )
    return kinds >= 2 and not value.isdigit() and not (value.istitle() and not any(map(str.isdigit, value)))


def _mask_authority(authority: str) -> str:
    user_info, at, host = authority.rpartition("@")
    if not at:
        return authority
    user, colon, _password = user_info.partition(":")
    if colon:
        return f"{user}:{MASK}@{host}"
    return f"{MASK}@{host}" if looks_random(user) and len(user) >= 16 else authority


def _url(match: Any) -> str:
    """Mask the passwords of all URLs in a word, also passwords with an unescaped slash."""
    scheme, *parts = str(match.group()).split("://")
    if len(parts) > 2 * MOST_MATCHES:
        return f"{scheme}://{MASK}"
    return "://".join([scheme, *map(_mask_after_scheme, parts)])


def _mask_after_scheme(part: str) -> str:
    end = min((at for at in map(part.find, _AUTHORITY_ENDS) if at >= 0), default=len(part))
    authority, rest = part[:end], part[end:]
    if "@" in authority:
        return _mask_authority(authority) + rest
    host, _, port = authority.partition(":")
    at = rest.find("@")
    if at >= 0 and port and not port.isdigit() and "]" not in port:
        return f"{host}:{MASK}{rest[at:]}"
    return part


def _host_login(match: Any) -> str:
    return f"{match.group(1)}{MASK}{match.group(2)}"


def _login_at_host(match: Any) -> str:
    """Mask user:password@host without a scheme when the middle looks generated: "mailto:bob@host" has no password."""
    password = match.group(2)
    generated = all(any(map(kind, password)) for kind in (str.isdigit, str.islower, str.isupper))
    return f"{match.group(1)}{MASK}{match.group(3)}" if generated else str(match.group())


SHAPES: tuple[Rule, ...] = (
    Rule(("://",), r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s\"'<>`\\]*@[^\s\"'<>`\\]*", _url),
    Rule(("==",), r"(\bsha-?512[\-:= ]{1,2}|\bintegrity[\-:= ]{1,2})?\b[A-Za-z0-9+/]{86}==", _no_digest),
    Rule(("s.",), r"\bs\.[A-Za-z0-9]{24}\b", _mixed_only),
    Rule(("$", "}", "md5", "*", "0x0", "s:", ":::"), _HASHES, _whole, has_groups=False),
    # The private members of a JSON Web Key (RFC 7517), however long the rest of it is.
    Rule(('"',), r"(\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"[ \t]*:[ \t]*\\*\")[A-Za-z0-9_\-]{16,}=*", _first_group),
    Rule(("&p=",), r"([?&]u=[^&\s]*&p=)[^&\s\"']+", _first_group),
    Rule((" #",), r"([ \t]#)[0-9a-f]{64}\b", _first_group),  # Redis: ACL
    Rule((".dockerconfigjson",), r"(\.dockerconfigjson\\*\"?[ \t]*:[ \t]*\\*\"?)[A-Za-z0-9+/=]+", _first_group),
    Rule(("psk", "xauth", "eap"), r"(\b(?:PSK|XAUTH|EAP)[ \t]+\")[^\"\n]+", _first_group),
    Rule(("bearer", "ssws", "geniekey"), r"(?i)\b((?:bearer|ssws|geniekey)[ \t]+)([A-Za-z0-9._~+/=\-]{8,})", _bearer),
    Rule(("basic",), r"(?i)\b(basic[ \t]+)([A-Za-z0-9+/=]{8,})", _basic),
    Rule(("hooks.", "/hooks/"), r"(\bhooks\.(?:slack\.com|slack-gov\.com|chime\.aws|zapier\.com)/[a-z]+/)[^\s\"'<>]+", _first_group),
    Rule(("/hooks/",), r"(://[^\s/\"']+/hooks/)[A-Za-z0-9/]{20,}", _first_group),
    Rule(("discord",), r"(discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/)[A-Za-z0-9_\-]+", _first_group),
    Rule((".webhook.office",), r"(\.webhook\.office\.com/webhookb2/)[^\s\"']+", _first_group),
    Rule(("maker.ifttt",), r"(maker\.ifttt\.com/[^\s\"']*/key/)[A-Za-z0-9_\-]+", _first_group),
    # A line of .pgpass: host, port, database, user.
    Rule((":",), r"^([^\s:]{1,255}:(?:[0-9]{4,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:)[^\s:/][^\s:]{3,}$", _first_group),
    Rule(("jdbc:oracle",), r"(jdbc:oracle:[a-z0-9]+:[^/\s:@]+/)[^@\s]+", _first_group),
    Rule(("@tcp(", "@unix(", "@udp("), r"(\b[A-Za-z0-9_.\-]+:)[^\s@:/\"']+(@(?:tcp|unix|udp)\()", _host_login),
    Rule(("@",), r"(\b[A-Za-z0-9_.\-]+:)[^\s@:/\"']+(@[A-Za-z0-9_.\-]+:[0-9]{2,5}\b)", _host_login),
    Rule(("@",), r"(\b[A-Za-z0-9_.\-]+:)([^\s@:/\"']{8,})(@[A-Za-z0-9\-]+\.[A-Za-z0-9.\-]+)", _login_at_host),
)  # fmt: skip


def make_trigger(rules: tuple[Rule, ...]) -> str:
    """Return a pattern that matches wherever one of the rules may, at a fraction of the cost."""
    return "|".join(
        f"(?i:{loosen(r.pattern).replace('(?i)', '')})" if "(?i)" in r.pattern else f"(?:{loosen(r.pattern)})"
        for r in rules
    )
