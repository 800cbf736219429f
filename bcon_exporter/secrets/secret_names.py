"""Decides by a name whether its value is a secret: of an environment variable, a label, an option, a log's field.

A name is split into words at separators and at camel-case borders; whole words count, never substrings, so that
"secretary", "passenger", "compass", "tokenizer", "author", "keyboard" and "PATH" stay readable.
"""

from functools import lru_cache
from itertools import pairwise
from typing import Literal

import re2

Strength = Literal["strong", "weak", "no"]
"""strong: any value is secret; weak: only a value that looks random is."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


_WORDS = re2.compile(r"[A-Z]+[a-z]?[a-z]*|[a-z]+|[0-9]+")

_STRONG = words(
    "pass passwd password passwords passphrase passcode pwd pw psw pswd pat dsn secret secrets token credential "
    "credentials cred creds apikey apikeys apisecret apitoken authtoken accesstoken refreshtoken idtoken bearertoken "
    "accesskey secretkey privatekey privkey signingkey encryptionkey masterkey accountkey authkey authorization "
    "sharedkey sshkey appkey sessionkey otp totp cvv cookie requirepass masterauth keypass storepass connectionstring "
    "connstring connstr webhook phpsessid jsessionid sessionid clientsecret appsecret sharedaccesskey "
    "sharedaccesssignature serviceaccountkey authpass privpass htpasswd psk presharedkey passwort kennwort contrasena "
    "senha motdepasse wachtwoord mnemonic stringdata"
)
_STRONG_ENDINGS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "token",
    "credentials",
    "secretkey",
    "storepass",
    "keypass",
)
_GLUED_PASS = words(
    "db user usr smtp mail email imap root admin key store ftp sftp mysql mariadb pg postgres redis mongo ldap bind "
    "proxy http my login truststore keystore rabbit rabbitmq amqp mqtt sql web app test vnc ssh wifi wpa"
)
_WEAK = words("session encrypt auth salt pepper sig signature nonce sid csrf xsrf csrftoken xsrftoken pin unseal")
_KEY_KINDS = words(
    "api access secret private priv signing sign encryption encrypt decryption decrypt master account storage ssh "
    "session shared auth deploy license licence jwt hmac aes rsa cookie webhook service client subscription stripe "
    "sendgrid app application server fernet unseal recovery tls ssl crypto security consumer integration ingest "
    "writekey instrumentation host vault datadog dd newrelic openai anthropic mailgun algolia sentry project preshared "
    "bot backup widget feed google azure aws github gitlab slack wg wireguard cipher symmetric root ts tailscale"
)
# A name that ends in one of these describes a secret and holds none: PASSWORD_FILE, TOKEN_URL, SECRET_NAME.
_ABOUT = words(
    "file files path dir directory url uri endpoint ttl expiry expires expire expiration expired length len min max "
    "policy type count limit name enabled disabled enable disable required require rotation age hint field header "
    "lifetime timeout algorithm alg size rounds encoding issuer audience prefix suffix format version provider store "
    "manager source mode method methods strategy backend service port host reset error errors invalid ok bucket "
    "refresh interval validity leeway attempts retries cost strength pattern regex env var ref mount engine usage "
    "rate budget window per java kt py js ts go rb php rs cs filter handler listener at on changed updated created used "
    "status state present exists found missing verified confirmed scope scopes request requests response counter "
    "days day hours hour minutes minute seconds second secs sec ms bytes "
    "generator validator parser checker loader resolver factory config configuration settings options controller encryption"
)
_PHRASES = frozenset((a, b) for a in ("recovery", "backup", "seed") for b in ("code", "codes", "phrase", "words")) | {
    ("connection", "string"),
    ("string", "data"),
}
"""Two words that stand for a secret together."""
_COUNTED = words("max min num input output total prompt completion used cached reasoning n")
_LONGEST_KEY = 128


def _split(key: str) -> list[str]:
    """Split to lower-case words; digits stay apart ("PASSWORD2" → password, 2)."""
    if key.isupper() or key.islower():
        return [word.lower() for word in re2.findall(r"[A-Za-z]+|[0-9]+", key)]
    parts: list[str] = []
    for word in _WORDS.findall(key):
        upper = len(word) - len(word.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        if 1 < upper < len(word):  # "APIKey" → API, Key
            parts += [word[: upper - 1].lower(), word[upper - 1 :].lower()]
        else:
            parts.append(word.lower())
    return parts


def _is_strong(word: str) -> bool:
    if word in _STRONG or word.endswith(_STRONG_ENDINGS):
        return True
    return word.endswith("pass") and word[:-4] in _GLUED_PASS


def key_strength(key: str) -> Strength:
    """Judge a name by its words; of a long one only its end, so that the cache stays small."""
    if not key.isascii():  # a lone surrogate cannot be searched
        key = key.encode("ascii", "replace").decode()
    return _strength(key if len(key) <= _LONGEST_KEY else key[-_LONGEST_KEY:])


@lru_cache(maxsize=4096)
def _strength(key: str) -> Strength:
    parts = [word for word in _split(key) if not word.isdigit()]
    if not parts or parts[-1] in _ABOUT or "per" in parts or "existing" in parts or parts[-2:] == ["cert", "hash"]:
        return "no"
    if parts[-1] == "tokens":
        if _COUNTED.intersection(parts):
            return "no"
        return "weak" if len(parts) == 1 else "strong"
    if any(_is_strong(word) for word in parts):
        return "no" if _COUNTED.intersection(parts) and parts[-1] == "token" else "strong"
    if any(a in _KEY_KINDS and b in ("key", "keys") for a, b in pairwise(parts)):
        return "strong"
    if _PHRASES.intersection(pairwise(parts)):
        return "strong"
    return "weak" if parts[-1] in _WEAK or parts[-1].endswith("salt") else "no"


def is_secret_key(key: str) -> bool:
    """Return whether a value under this name is to be masked whatever it looks like."""
    return key_strength(key) == "strong"
