"""Secrets that a phrase announces: --flag value, "password is ...", an Authorization header, `mysql -p...`."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import re2

from bcon_exporter.secrets.issuer_tokens import MASK
from bcon_exporter.secrets.pairs import KEY
from bcon_exporter.secrets.prose_or_secret import is_message, is_plain
from bcon_exporter.secrets.secret_names import key_strength, words
from bcon_exporter.secrets.shapes import Rule, looks_random

_NO_SECRETS = words("commit sha sha1 sha256 md5 digest hash etag fingerprint checksum revision id uid uuid image layer")
_LOOKED_BACK_CHARS = 2048
"""Characters before a flag in which its program is looked for."""


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


def _announced_sign(match: Any) -> str:
    """Mask what follows "password for bob:" unless it is a word or a place."""
    value = match.group(2)
    if value.isalpha() or value[0] in "/([{" or "://" in value:
        return str(match.group())
    return _announced(match)


def _two_columns(match: Any) -> str:
    """Mask the second column of a table whose first names a secret."""
    if key_strength(match.group(1).strip()) != "strong":
        return str(match.group())
    return _announced(match)


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
    """Mask the last group when the second names a secret."""
    *before, value = match.groups()
    if key_strength(match.group(2)) != "strong" or value == MASK or is_plain(value) or value.startswith("${"):
        return str(match.group())
    return "".join(before) + MASK


def _value_before_name(match: Any) -> str:
    head, value, between, key = match.groups()
    if key_strength(key) != "strong" or value == MASK:
        return str(match.group())
    return f"{head}{MASK}{between}{key}"


@dataclass(frozen=True, slots=True)
class CommandRule:
    """A program's option whose argument is a secret.

    Attributes:
        programs: Their names, as alternatives of an expression; lower case.
        option: RE2 of the option itself, without what separates it from its argument.
        argument: "word": all of it; "login": what follows the user's name (bob:x, bob%x, bob,x); "glued": all of it, and
            it must follow the option directly or as the next item of a list, since a blank begins something else.
    """

    programs: str
    option: str
    argument: str = "word"


COMMAND_RULES: tuple[CommandRule, ...] = (
    CommandRule("curl", r"-[A-Za-z#]*?[uU]|--user|--proxy-user", "login"),
    CommandRule("curl", r"--oauth2-bearer|--pass|--proxy-pass|--tlspassword"),
    CommandRule("wget", r"--user|--http-user", "login"),
    CommandRule("http|https|xh|xhs|httpie|ab|hey|siege|ali", r"-[aAP]|--auth", "login"),
    CommandRule("mysql[a-z]*|mariadb(?:-[a-z]+)?", r"-p"),
    CommandRule("mongo[a-z]*|cqlsh|sshpass|7z[ar]?|rdesktop|sshfs|ncftp|k6|rar|unrar", r"-[pP]|-hp"),
    CommandRule("zip|unzip|ipmitool|sqlcmd|bcp|osql|tsql|isql|fisql|ssh-keygen", r"-P|-N"),
    CommandRule("docker|podman|nerdctl|buildah|helm|oras|crane|regctl|skopeo|az|oc|ibmcloud|cf|heroku|acr", r"(?:\blogin\b[^\n]*?[ \t\"'])-p"),
    CommandRule("redis-cli|valkey-cli|keydb-cli|redis-benchmark", r"-a"),
    CommandRule("mosquitto_pub|mosquitto_sub|mosquitto_rr", r"-P"),
    CommandRule("ldap[a-z]*", r"-w"),
    CommandRule("slappasswd", r"-s"),
    CommandRule("smbclient|smbget|rpcclient|smbmap|net|winexe", r"-U|--user", "login"),
    CommandRule("lftp", r"-u", "login"),
    CommandRule("snmp[a-z]*", r"-[AXc]"),
    CommandRule("xfreerdp|wfreerdp", r"/p:"),
    CommandRule("openssl", r"-pass(?:in|out)?(?:[ \t]+|[\"'][ \t]*,[ \t]*[\"'])pass:|-k"),
    CommandRule("useradd|usermod|adduser", r"-p|--password"),
    CommandRule("gh|glab", r"--with-token"),
    CommandRule("kubectl|oc|k3s", r"--from-literal(?:=|[ \t]+)[A-Za-z0-9_.\-]+="),
)  # fmt: skip

_ARGUMENT = r"(?:\\*\"([^\"\n]+)|\\*'([^'\n]+)|([^\s\"'][^\s\"']*))"
_BETWEEN = r"(=|[ \t]+|\\*[\"'][ \t]*,[ \t]*|)"


def _argument(match: Any, programs: Any, kind: str) -> str:
    """Mask an option's argument when one of its programs stands before it."""
    start = match.start()
    if not programs.search(match.string[max(0, start - _LOOKED_BACK_CHARS) : start]):
        return str(match.group())
    value = str(match.group(4) or match.group(5) or match.group(6))
    kept = len(value) - len(value.rstrip("\\,]"))
    text, end = (value[:-kept], value[-kept:]) if kept else (value, "")
    if kind == "login":
        at = min((place for place in map(text.find, ":%,") if place >= 0), default=-1)
        if at < 0 or text[at:].startswith("://") or text[:at] == text[at + 1 :]:
            return str(match.group())
        return str(match.group()).removesuffix(value) + text[: at + 1] + MASK + end
    if not text or text.startswith(("-", "$")):
        return str(match.group())
    return str(match.group()).removesuffix(value) + MASK + end


def _make_command(rule: CommandRule) -> Rule:
    programs = re2.compile(rf"(?i)(?:^|[^A-Za-z0-9_.\-])(?:{rule.programs})(?:\.exe)?(?:$|[^A-Za-z0-9_.=:])")
    hints = tuple(name.partition("[")[0].partition("(")[0] for name in rule.programs.split("|"))
    pattern = rf"((?:^|[\s\"'])(?:{rule.option}))({_BETWEEN}){_ARGUMENT}"
    return Rule(hints, pattern, partial(_argument, programs=programs, kind=rule.argument))


_QUOTE = r"\\*[\"'`]?"
_PARAMETER = r"[A-Za-z0-9_\-]+=(?:\\*\"[^\"\n]*\"|[^\s\"',\\]+)"
_NOUN = r"(?:password|passwd|passphrase|passwort|secret|token|api[ _\-]?key|access[ _\-]key|credentials?|passcode|otp)"
PHRASES: tuple[Rule, ...] = (
    Rule(
        ("authorization",),
        rf"(?i)((?:proxy-)?authorization(?:{_QUOTE}[ \t]*[:=]|\\*[\"'][ \t]*,)[ \t]*\[?(?:b[\"'])?{_QUOTE})"
        r"((?:basic|bearer|token|digest|negotiate|ntlm|apikey|aws4-hmac-sha256|hawk|key|dpop|splunk|oauth|hmac|gnap|"
        r"mutual|scram-sha-256|privatetoken|genie[a-z]*|ssws|sharedkey[a-z]*|bot)[ \t]+)?"
        rf"({_PARAMETER}(?:[ \t]*[,;]?[ \t]*{_PARAMETER})*|[^\s\"'\\]+)",
        _authorization,
    ),
    Rule(("cookie",), rf"(?i)((?:set-)?cookie{_QUOTE}[ \t]*:[ \t]*{_QUOTE}[A-Za-z0-9_.\-]+=)[^\"'\n]+", _first),
    Rule(("--", " -"), rf"(?:^|[^A-Za-z0-9_.\-])(--?{KEY})([ \t]+{_QUOTE})([^\s\"'\\]+)", _flag),
    # A command line as a list: '"--password", "..."', in JSON within JSON too.
    Rule(("-",), rf"(--?{KEY})(\"[ \t]*,[ \t]*\")((?:[^\"\\\n]|\\[^\n])+)", _flag),
    Rule(("-",), rf"(--?{KEY})(\\+\"[ \t]*,[ \t]*\\+\")(.+?)(\\+\"[ \t]*[,\]]|$)", _flag_within),
    Rule(("-",), rf"(--?{KEY})('[ \t]*,[ \t]*')([^'\n]+)", _flag),
    # A name and its value as two members, two arguments or two cells.
    Rule(
        ("name", "key", "variable", "parameter", "field", "header"),
        rf"((?i:name|key|variable|parameter|field|header){_QUOTE}[ \t]*[:=][ \t]*{_QUOTE})({KEY})"
        rf"({_QUOTE}[ \t]*[,;]?[ \t]*(?:{_QUOTE}[A-Za-z_]+{_QUOTE}[ \t]*[:=][ \t]*[^,\n]*,[ \t]*)?"
        rf"{_QUOTE}(?i:value|val|default|current){_QUOTE}[ \t]*[:=][ \t]*{_QUOTE})([^\"'\n,;}}\\]+)",
        _named_value,
    ),
    Rule(
        ("value",),
        rf"({_QUOTE}(?i:value){_QUOTE}[ \t]*[:=][ \t]*{_QUOTE})([^\"'\n,;}}\\]+)"
        rf"({_QUOTE}[ \t]*[,;][ \t]*{_QUOTE}(?i:name|key|variable){_QUOTE}[ \t]*[:=][ \t]*{_QUOTE})({KEY})",
        _value_before_name,
    ),
    Rule(("(",), rf"(\([ \t]*b?\\*[\"'])({KEY})(\\*[\"'][ \t]*,[ \t]*b?\\*[\"'])([^\"'\n\\]+)", _named_value),
    Rule(("|",), rf"(\|[ \t]*)({KEY})([ \t]*\|[ \t]*)([^|\s][^|\n]*?)[ \t]*(?:\||$)", _named_value),
    Rule(("</",), rf"(<)({KEY})([^<>\n]*>)([^<\n]+)", _named_value),
    Rule(("<value>",), rf"(<name>)({KEY})(</name>[ \t]*<value>)([^<\n]+)", _named_value),
    Rule(("</key>",), rf"(<key>)({KEY})(</key>[ \t]*<(?:string|data)>)([^<\n]+)", _named_value),
    # A trace of PHP: the third argument of what opens a connection.
    Rule(
        ("__construct(", "_connect(", "ldap_bind(", "ftp_login(", "imap_open(", "ssh2_auth_password("),
        r"((?:\b(?:PDO|mysqli)->__construct|\bmysqli(?:_|->real_)connect|\bldap_bind|\bftp_login|\bimap_open|"
        r"\bssh2_auth_password)\((?:(?:'[^'\n]*'|[^',\n]*), ){2}')[^'\n]+",
        _first,
    ),
    Rule(
        ("env", "arg ", "setx", "config set", "set -"),
        rf"(\b(?:ENV|ARG|setenv|setx|config set|CONFIG SET|set -g?x)[ \t]+{_QUOTE})({KEY})"
        rf"({_QUOTE}[ \t]+{_QUOTE})([^\s\"']+)",
        _named_value,
    ),
    # Protocols
    Rule(
        ("identified by", "password"),
        r"(?i)((?:identified[ \t]+by(?:[ \t]+password)?|password)(?:[ \t]+|[ \t]*\([ \t]*)')[^'\n]*",
        _first,
    ),
    Rule(("auth",), r"(\bAUTH(?:\\*[\"'])?[ \t]+(?:PLAIN|LOGIN|CRAM-MD5|XOAUTH2)[ \t]+)[A-Za-z0-9+/=]{4,}", _first),
    Rule(("auth",), r"(?i)(\\*\"auth\\*\"[ \t]+(?:\\*\"[^\"\s]+\"[ \t]+)?\\*\")([^\"\\\n]+)", _announced),
    Rule(("auth",), r"(^[ \t>]*AUTH[ \t]+(?:default[ \t]+)?)([^\s]+)$", _announced),
    Rule(("pass",), r"((?:^|[\s>\"'])PASS[ \t]+)([^\s/\"']{4,})[\"']?[ \t]*$", _random_only),
    Rule((" login",), r"(\b[A-Za-z0-9]{1,8} LOGIN[ \t]+[^\s]+[ \t]+\"?)([^\"\n]+)\"?$", _announced),
    # Commands
    *map(_make_command, COMMAND_RULES),
    Rule(("htpasswd",), r"(\bhtpasswd[ \t]+(?:-[A-Za-z]+[ \t]+)*-[A-Za-z]*b[A-Za-z]*(?:[ \t]+-[A-Za-z]+)*[ \t]+(?:[^\s\-][^\s]*[ \t]+){1,2})[^\s\"']+$", _first),
    Rule(("rabbitmqctl",), r"(\brabbitmqctl[ \t]+(?:add_user|change_password|authenticate_user)[ \t]+[^\s]+[ \t]+[\"']?)[^\s\"']+", _first),
    Rule(("sqlplus",), r"(\bsqlplus[ \t]+(?:-[A-Za-z]+[ \t]+)*[A-Za-z0-9_$#]+/)[^\s@\"']+", _first),
    Rule(("vault",), r"(\bvault[ \t]+(?:login|operator unseal|unwrap)[ \t]+(?:-[a-z\-]+(?:=[^\s]+)?[ \t]+)*)([^\s\-\"'=][^\s\"'=]{7,})$", _random_only),
    Rule(("wpa_passphrase",), r"(\bwpa_passphrase[ \t]+[^\s]+[ \t]+)[^\s\"']+", _first),
    Rule(("mc ",), r"(\bmc[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+)[^\s\"']+", _first),
    Rule(("echo", "printf"), rf"(\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?{_QUOTE})[^\s\"'|$]+({_QUOTE}[ \t]*\|[ \t]*(?:[a-z]+[ \t]+[^\n]*--password-stdin|sudo[ \t]+-S|[^\n]*chpasswd|[^\n]*--with-token))", lambda match: f"{match.group(1)}{MASK}{match.group(2)}"),
    Rule(("chpasswd", "passwd"), r"(<<<[ \t]*\"?[a-z_][a-z0-9_\-]*:)[^\s\"']+", _first),
    Rule(("requirepass", "masterauth"), rf"(?i)\b((?:requirepass|masterauth){_QUOTE}[ \t]+{_QUOTE})([^\s\"']+)", _announced),
    Rule(("login",), r"(?i)(\blogin[ \t]+[^\s]+[ \t]+password[ \t]+)([^\s]+)", _announced),
    # Prose
    Rule(
        ("passe", "mdp", "contrase", "clave", "has", "\u043f\u0430\u0440", "\u30d1", "\u5bc6", "\u7801", "schl", "heslo", "salasana", "senord", "ifre", "\ube44"),
        "(?i)((?:mot de passe|\\bmdp|contrase\u00f1a|clave(?: secreta)?|has\u0142o|heslo|salasana|l\u00f6senord|\u015fifre|\u043f\u0430\u0440\u043e\u043b\u044c|\u30d1\u30b9\u30ef\u30fc\u30c9|\u5bc6\u7801|\u5bc6\u78bc|\ube44\ubc00\ubc88\ud638|[a-z]*schl\u00fcssel)(?: lautet| es| est| ist)?[ \t]*(?:[:=\uff1a]|[ ]es[ ]|[ ]est[ ])[ \t]*[\"']?)([^\\s\"']+)",
        _announced,
    ),
    Rule(("pass", "secret", "token"), rf"(?m)^([ \t]*{KEY}(?:[ \t]{{2,}}|\t))([^\s]+)[ \t]*$", _two_columns),
    Rule(("pass", "secret"), r"(?i)^([ \t]*(?:password|passwd|secret)[ \t]+)([^\s]+)[ \t]*$", _announced_sign),
    Rule(("token", "secret", "key"), r"(?i)\b((?:api|access|auth|secret)[ ](?:token|key)\b[^\n:=]{1,32}:[ \t]*)([A-Za-z0-9+/=_\-]{20,})", _random_only),
    Rule((" code",), r"(?i)\b((?:recovery|backup)[ ]codes?[ \t]*[:=][ \t]*)([^\n]+)", _announced),
    Rule(("is generated",), r"(?i)(password is generated for [^\s:]+:[ \t]*)([^\s]+)", _announced),
    Rule(
        (" is", " was", "set to", "changed to", "updated to", "reset to"),
        rf"(?i)\b({_NOUN}[ \t]+(?:is|was|(?:is |was )?(?:now|set to|changed to|updated to|reset to))"
        r"[ \t]*:?[ \t]*[\"'`]?)([^\s\"'`]+)",
        _announced,
    ),
    Rule(
        (" for ", " of ", " from "),
        rf"(?i)\b({_NOUN}[ \t]+(?:for|of)[ \t]+[^\n:=]{{1,60}}?(?::|=|[ \t]is|[ \t]was)[ \t]*[\"'`]?)([^\s\"'`]{{4,}})",
        _announced_sign,
    ),
    Rule((" from ",), rf"(?i)\b({_NOUN}[ \t]+(?:changed[ \t]+)?from[ \t]+[\"'`])([^\"'`\n]+)", _announced),
    Rule((" to ",), rf"(?i)\b({_NOUN}[ \t]+(?:changed[ \t]+)?from[ \t]+[\"'`][^\"'`\n]+[\"'`][ \t]+to[ \t]+[\"'`])([^\"'`\n]+)", _announced),
    Rule(("cred",), r"(?i)\b((?:credentials?|creds)[ \t]+[\"'`]?[A-Za-z0-9_.@\-]+[:/])([^\s\"'`,:/][^\s\"'`,]*)", _announced_sign),
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
        (" key", " code", " phrase"),
        r"(?i)\b((?:(?:api|access|secret|private|auth|signing|encryption|master|account|unseal|recovery|license|root|"
        r"pre-?shared|shared)[ ]key(?:[ ]?[0-9])?|(?:recovery|backup)[ ]codes?)[ \t]*[:=][ \t]*[\"'`]?)([^\s\"'`]+)",
        _announced,
    ),
    Rule(("mnemonic", "phrase"), r"(?i)\b((?:mnemonic|seed phrase|recovery phrase|passphrase)[\"']?[ \t]*(?:is|[:=])[ \t]*[\"']?)((?:[a-z]{3,8}[ ,]+){3,}[a-z]{3,8})", _first),
)  # fmt: skip
