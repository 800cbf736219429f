"""Secrets that a phrase announces: --flag value, "password is ...", an Authorization header, `mysql -p...`."""

from typing import Any

from bcon_exporter.model.secret_keys import key_strength, words
from bcon_exporter.model.secret_pairs import KEY
from bcon_exporter.model.secret_prose import is_message, is_plain
from bcon_exporter.model.secret_shapes import MASK, Rule, looks_random

_NO_SECRETS = words("commit sha sha1 sha256 md5 digest hash etag fingerprint checksum revision id uid uuid image layer")


def _authorization(match: Any) -> str:
    head, scheme, value = match.group(1), match.group(2) or "", match.group(3)
    if not scheme and is_message(match.string, match.start(3), value):
        return str(match.group())
    return f"{head}{scheme}{MASK}"


def _flag(match: Any) -> str:
    flag, value = match.group(1), match.group(3)
    if key_strength(flag.lstrip("-")) != "strong" or value.startswith("-") or is_plain(value):
        return str(match.group())
    return str(match.group()).removesuffix(value) + MASK


def _flag_within(match: Any) -> str:
    flag, between, value, end = match.groups()
    if key_strength(flag.lstrip("-")) != "strong" or value.startswith("-"):
        return str(match.group())
    return f"{flag}{between}{MASK}{end}"


def _first(match: Any) -> str:
    return f"{match.group(1)}{MASK}"


def _announced(match: Any) -> str:
    if is_message(match.string, match.start(2), match.group(2)):
        return str(match.group())
    return f"{match.group(1)}{MASK}"


def _random_only(match: Any) -> str:
    """Mask what follows "token" in prose only when it is no word, version or file name."""
    value = match.group(2)
    word = "." in value or value.startswith("HTTP/") or not any(c.isdigit() for c in value)
    return str(match.group()) if word or not looks_random(value) else f"{match.group(1)}{MASK}"


def _announced_hex(match: Any) -> str:
    """Mask a long hexadecimal number that follows "token ...:", unless it is called a digest or an id."""
    named = _NO_SECRETS.intersection(match.group(2).lower().replace("-", " ").replace("_", " ").split())
    return str(match.group()) if named else f"{match.group(1)}{MASK}"


def _named_value(match: Any) -> str:
    if key_strength(match.group(2)) != "strong" or match.group(4) == MASK:
        return str(match.group())
    return f"{match.group(1)}{match.group(2)}{match.group(3)}{MASK}"


_QUOTE = r"\\*[\"'`]?"
_LISTED = r"(?:[ \t]+[\"']?|[\"'][ \t]*,[ \t]*[\"'])"
PHRASES: tuple[Rule, ...] = (
    Rule(
        ("authorization",),
        rf"(?i)((?:proxy-)?authorization{_QUOTE}[ \t]*[:=][ \t]*{_QUOTE})"
        r"((?:basic|bearer|token|digest|negotiate|ntlm|apikey|aws4-hmac-sha256|hawk|key|dpop|splunk)[ \t]+)?"
        r"([^\s\"'\\]+(?:[ \t]*,?[ \t]*[A-Za-z_]+=[^\s\"',]+|[ \t]*,?[ \t]*[A-Za-z_]+=\"[^\"\n]*\")*)",
        _authorization,
    ),
    Rule(("cookie",), rf"(?i)((?:set-)?cookie{_QUOTE}[ \t]*:[ \t]*{_QUOTE}[A-Za-z0-9_.\-]+=)[^\"'\n]+", _first),
    Rule(("--", " -"), rf"(?:^|[^A-Za-z0-9_.\-])(--?{KEY})([ \t]+{_QUOTE})([^\s\"'\\]+)", _flag),
    # A command line as a list: '"--password", "..."', in JSON within JSON too.
    Rule(("-",), rf"(--?{KEY})(\"[ \t]*,[ \t]*\")((?:[^\"\\\n]|\\[^\n])+)", _flag),
    Rule(("-",), rf"(--?{KEY})(\\+\"[ \t]*,[ \t]*\\+\")(.+?)(\\+\"[ \t]*[,\]]|$)", _flag_within),
    Rule(("-",), rf"(--?{KEY})('[ \t]*,[ \t]*')([^'\n]+)", _flag),
    Rule(
        ('"name',),
        rf"(\"[Nn]ame\"[ \t]*:[ \t]*\")({KEY})(\"[ \t]*,[ \t]*\"[Vv]alue\"[ \t]*:[ \t]*\")([^\"\n]*)",
        _named_value,
    ),
    Rule(("</",), rf"(<)({KEY})([^<>\n]*>)([^<\n]+)", _named_value),
    Rule(
        ("identified by", "password '"),
        r"(?i)((?:identified[ \t]+by(?:[ \t]+password)?|password)[ \t]+')[^'\n]*",
        _first,
    ),
    Rule(
        ("mysql", "mariadb", "mongo", "sshpass", "7z", "htpasswd"),
        r"((?i:mysql[a-z]*|mariadb(?:-[a-z]+)?|mongo[a-z]*|sshpass|7z|htpasswd)\b[^\n]*?[ \t\"']-p"
        rf"{_LISTED}?)[^\s\-\"',][^\s\"']*",
        _first,
    ),
    Rule(("docker login", "podman login"), r"(?i)(\blogin\b[^\n]*?[ \t\"']-p" + _LISTED + r")[^\s\"']+", _first),
    Rule(("redis-cli",), r"(?i)(redis-cli\b[^\n]*?[ \t\"']-a" + _LISTED + r")[^\s\"']+", _first),
    Rule(("ldap",), r"(?i)(ldap[a-z]*\b[^\n]*?[ \t\"']-w" + _LISTED + r"?)[^\s\"']+", _first),
    Rule(
        ("curl", "wget", "http "),
        r"(?i)(\b(?:curl|wget|http|https)\b[^\n]*?[ \t\"'](?:-u|--user|--proxy-user|-a)"
        r"[\"']?[ \t=,]*[\"']?[^\s:\"']+:)[^\s\"']+",
        _first,
    ),
    Rule(("requirepass", "masterauth"), r"(?i)\b((?:requirepass|masterauth)[ \t]+)([^\s]+)", _announced),
    Rule(("login",), r"(?i)(\blogin[ \t]+[^\s]+[ \t]+password[ \t]+)([^\s]+)", _announced),
    Rule(("is generated",), r"(?i)(password is generated for [^\s:]+:[ \t]*)([^\s]+)", _announced),
    Rule(
        (" is", " was", "set to"),
        r"(?i)\b((?:password|passwd|passphrase|secret|token|api[ _\-]?key|access[ _\-]key)"
        r"[ \t]+(?:is|was|set to)[ \t]*:?[ \t]*[\"'`]?)([^\s\"'`]+)",
        _announced,
    ),
    Rule(
        ("pass", "secret", "token", "key"),
        r"(?i)\b((?:password|passwd|passphrase|secret|token|api[ _\-]?key|"
        r"(?:master|root|unseal|signing|encryption) key)[ \t]+[\"'`]?)([A-Za-z0-9+/=_!@#$%^&*.\-]+)",
        _random_only,
    ),
    Rule(
        ("_key ", "-key ", "_token ", "-token ", "_secret ", "-secret "),
        r"(?i)((?:\b|_)(?:secret[_\-]access|secret|api|private|access|auth|refresh|bearer|client|signing|encryption)"
        r"[_\-](?:key|token|secret)[ \t]+[\"'`]?)([A-Za-z0-9+/=_\-]{16,})",
        _random_only,
    ),
    Rule(
        ("token", "secret", " key", "password"),
        r"(?i)\b((?:token|secret|(?:api|access|master|root|unseal|signing|encryption) key|password)\b"
        r"([^\n:=]{1,32})[:=][ \t]*[\"'`]?)([0-9a-f]{32,128})\b",
        _announced_hex,
    ),
    Rule(
        (" key",),
        r"(?i)\b((?:api|access|secret|private|auth|signing|encryption|master|account) key"
        r"[ \t]*[:=][ \t]*[\"'`]?)([^\s\"'`]+)",
        _announced,
    ),
)
