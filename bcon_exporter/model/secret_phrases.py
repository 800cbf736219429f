"""Secrets that a name or a phrase announces: key=value, "key": "value", --flag value, "password is ..."."""

import re
from typing import Any

import re2

from bcon_exporter.model.secret_keys import key_strength, words
from bcon_exporter.model.secret_shapes import MASK, Rule, looks_random

_WORDS = (
    r"pass|password|passwords|passwd|passphrase|passcode|pwd|pw|psw|pswd|secret|secrets|token|tokens|cred|creds|"
    r"credential|credentials|dsn|auth|authorization|key|keys|pat|salt|pepper|sessionid|sessid|session|sid|otp|totp|"
    r"sig|signature|nonce|csrf|xsrf|cvv|pin|unseal|string|connstr|cookie|webhook|masterauth"
)
# A word of those, alone or as the end of a word ("dbpassword"), then perhaps more words ("token_value", "tokenValue").
_TAIL = r"[0-9]*(?:[_.\-A-Z][A-Za-z0-9_.\-]*)?"
_KEY = rf"[A-Za-z0-9_.\-]*(?i:{_WORDS}){_TAIL}"
_KEY_VALUE = (
    rf"({_KEY})((?:\\*[\"'])?\]?[ \t]*(?:=>|:=|==|=|:)[ \t]*)"
    r"(\\+\"(?:[^\"\\\n]|\\+[^\"\\\n])*\\*\"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|[^\s\"']+)"
)
# Words that follow "token:" or "password =" in messages; each stands for no secret.
_PLAIN_WORDS = words(
    "a an the no not is was are be been has have had must may can cannot could should would will invalid unexpected "
    "expired expires missing required requires incorrect wrong bad failed failure failing error errors denied "
    "rejected refused accepted ok okay success successful succeeded true false yes null none nil undefined empty unset "
    "set changed change updated reset created deleted removed revoked renewed refreshed rotated loaded found "
    "unknown malformed unsupported disabled enabled optional mandatory default valid verified unable unauthorized "
    "forbidden only using use used for from to at in of on by with without and or but if when while this that it its "
    "your user users access authentication authorization basic bearer digest ntlm negotiate end eof string number "
    "object array type length too must enter please check see received got given expected include omit same-origin "
    "public private read write admin signing generated generating auto skipping skipped ignoring ignored hidden "
    "redacted masked filtered protected sensitive secret pass fail passed mismatch mismatched could't "
    "connection login account session key token password"
)
_EMPTY_VALUES = frozenset(("", "null", "none", "nil", "true", "false", "undefined", "yes", "no", "on", "off", MASK))
_ENDS = ".,;:!?)]}>"
_PAIR_END = re.compile("[&,;]")
_PAIR_START = re.compile(r"[\\\"' {]{0,4}[\w.-]{1,64}[=:\\\"]")


def _keeps(key: str, value: str, *, in_prose: bool) -> bool:
    """Return whether a value under a key may stand."""
    low = value.lower()
    if low in _EMPTY_VALUES or value.strip("*•xX.<>[]") == "" or value.startswith(("${", "$(", "{{", "%(")):
        return True
    strength = key_strength(key)
    if strength == "no":
        return True
    if strength == "weak":
        return not looks_random(value)
    short_key = key.lower() in ("pass", "key", "pat", "pw", "otp", "cookie", "token")
    if short_key and value.isdigit() and len(value) <= 3:  # noqa: PLR2004 - a count ("pass: 12")
        return True
    return in_prose and low.strip(_ENDS + "'\"`(") in _PLAIN_WORDS


def _cut(value: str) -> int:
    """Return where an unquoted value ends: before the next key=value, or closing punctuation."""
    for match in _PAIR_END.finditer(value):
        if match.group() == "&" or _PAIR_START.match(value, match.end()):
            return match.start()
    return len(value.rstrip(_ENDS)) or len(value)


def _opening_quote(value: str) -> str:
    """Return the quote a value begins with, with the backslashes that JSON inside JSON puts before it."""
    if value[0] == "'":
        return "'"
    return value[: len(value) - len(value.lstrip('\\"'))]


def _key_value(match: Any) -> str:
    key, middle, value = match.group(1), match.group(2), match.group(3)
    quote = (
        value[: len(value) - len(value.lstrip('\\"'))] if value[0] in '\\"' else value[:1] if value[0] == "'" else ""
    )
    if quote:
        closing = quote if value.endswith(quote) and len(value) >= 2 * len(quote) else ""
        inner = value[len(quote) : len(value) - len(closing)]
        if _keeps(key, inner, in_prose=False):
            return f"{key}{middle}{quote}{_key_values(inner)}{closing}"
        return f"{key}{middle}{quote}{MASK}{closing}"
    end = _cut(value)
    inner, tail = value[:end], value[end:]
    if _keeps(key, inner, in_prose=":" in middle or middle != middle.strip()):
        return f"{key}{middle}{_key_values(value)}"
    return f"{key}{middle}{MASK}{_key_values(tail)}"


def _key_values(text: str) -> str:
    return str(_PAIR.sub(_key_value, text)) if text else text


_PAIR = re2.compile(_KEY_VALUE)


def _authorization(match: Any) -> str:
    head, scheme, value = match.group(1), match.group(2) or "", match.group(3)
    if value.lower().strip(_ENDS) in _PLAIN_WORDS and not scheme:
        return str(match.group())
    return f"{head}{scheme}{MASK}"


def _flag(match: Any) -> str:
    flag, value = match.group(1), match.group(3)
    if key_strength(flag.lstrip("-")) != "strong" or value.startswith("-") or value.lower() in _PLAIN_WORDS:
        return str(match.group())
    return str(match.group()).removesuffix(value) + MASK


def _first(match: Any) -> str:
    return f"{match.group(1)}{MASK}"


def _announced(match: Any) -> str:
    value = match.group(2)
    if value.lower().strip(_ENDS + "'\"`(") in _PLAIN_WORDS:
        return str(match.group())
    return f"{match.group(1)}{MASK}"


def _random_only(match: Any) -> str:
    """Mask what follows "token" in prose only when it is no word, version or file name."""
    value = match.group(2)
    word = "." in value or value.startswith("HTTP/") or not any(c.isdigit() for c in value)
    return str(match.group()) if word or not looks_random(value) else f"{match.group(1)}{MASK}"


def _named_value(match: Any) -> str:
    if key_strength(match.group(2)) != "strong" or match.group(4) == MASK:
        return str(match.group())
    return f"{match.group(1)}{match.group(2)}{match.group(3)}{MASK}"


_QUOTE = r"\\*[\"'`]?"
PHRASES: tuple[Rule, ...] = (
    Rule(
        ("authorization",),
        rf"(?i)((?:proxy-)?authorization{_QUOTE}[ \t]*[:=][ \t]*{_QUOTE})"
        r"((?:basic|bearer|token|digest|negotiate|ntlm|apikey|aws4-hmac-sha256|hawk|key|dpop|splunk)[ \t]+)?"
        r"([^\s\"'\\]+(?:[ \t]*,?[ \t]*[A-Za-z_]+=[^\s\"',]+|[ \t]*,?[ \t]*[A-Za-z_]+=\"[^\"\n]*\")*)",
        _authorization,
    ),
    Rule(("cookie",), rf"(?i)((?:set-)?cookie{_QUOTE}[ \t]*:[ \t]*{_QUOTE}[A-Za-z0-9_.\-]+=)[^\"'\n]+", _first),
    Rule(("--", " -"), rf"(?:^|[^A-Za-z0-9_.\-])(--?{_KEY})([ \t]+{_QUOTE})([^\s\"'\\]+)", _flag),
    Rule(
        ('"name',),
        rf"(\"[Nn]ame\"[ \t]*:[ \t]*\")({_KEY})(\"[ \t]*,[ \t]*\"[Vv]alue\"[ \t]*:[ \t]*\")([^\"\n]*)",
        _named_value,
    ),
    Rule(("</",), rf"(<)({_KEY})([^<>\n]*>)([^<\n]+)", _named_value),
    Rule(
        ("identified by", "password '"),
        r"(?i)((?:identified[ \t]+by(?:[ \t]+password)?|password)[ \t]+')[^'\n]*",
        _first,
    ),
    Rule(
        ("mysql", "mariadb", "mongo", "sshpass", "7z", "htpasswd"),
        r"(?i)((?:mysql[a-z]*|mariadb(?:-[a-z]+)?|mongo[a-z]*|sshpass|7z|htpasswd)\b[^\n]*?[ \t]-p[ \t]?)[^\s\-][^\s]*",
        _first,
    ),
    Rule(("docker login", "podman login"), r"(?i)(\blogin\b[^\n]*?[ \t]-p[ \t]+)[^\s]+", _first),
    Rule(("redis-cli",), r"(?i)(redis-cli\b[^\n]*?[ \t]-a[ \t]+)[^\s]+", _first),
    Rule(("ldap",), r"(?i)(ldap[a-z]*\b[^\n]*?[ \t]-w[ \t]*)[^\s]+", _first),
    Rule(
        ("curl", "wget", "http "),
        r"(?i)(\b(?:curl|wget|http|https)\b[^\n]*?[ \t](?:-u|--user|--proxy-user|-a)[ \t=]*[\"']?[^\s:\"']+:)[^\s\"']+",
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
        r"(?i)\b((?:password|passwd|passphrase|secret|token|api[ _\-]?key)[ \t]+[\"'`]?)([A-Za-z0-9+/=_!@#$%^&*.\-]+)",
        _random_only,
    ),
    Rule(
        (" key",),
        r"(?i)\b((?:api|access|secret|private|auth|signing|encryption|master|account) key"
        r"[ \t]*[:=][ \t]*[\"'`]?)([^\s\"'`]+)",
        _announced,
    ),
    Rule(("=", ":"), _KEY_VALUE, _key_value),
)
