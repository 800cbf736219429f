"""Checks passwords against bcrypt hashes and bearer tokens against SHA-256, at the same cost for every name."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import NamedTuple

_FAKE_TAIL = b"." * 53
"""Salt and hash that no password has: behind the users' cost, so that unknown names take as long as known ones."""
_BCRYPT_MAX_BYTES = 72
_REMEMBERED_MAX = 128


class Credentials(NamedTuple):
    """What a client sent."""

    name: str
    password: bytes


def parse_basic(header: str) -> Credentials | None:
    """Return the credentials of an Authorization header; None when it is absent, malformed or of another kind."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        return Credentials(name.decode(), password) if colon else None
    except ValueError:  # no Base64, not even ASCII, or no UTF-8
        return None


def parse_bearer(header: str) -> bytes | None:
    """Return the token of an Authorization header; None when it is absent or of another kind."""
    scheme, _, token = header.partition(" ")
    return token.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" and token.strip() else None


class GoodPairs:
    """Remembers good pairs of name and password, since each bcrypt check takes tens of milliseconds of CPU.

    Only a keyed digest is kept. It covers the user's hash: a pair is good as long as the user has the same hash.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._digests: dict[bytes, None] = {}

    def add(self, credentials: Credentials, hashed: bytes) -> None:
        """Remember a pair; all others are forgotten when there are too many."""
        if len(self._digests) >= _REMEMBERED_MAX:
            self._digests.clear()
        self._digests[self._digest(credentials, hashed)] = None

    def has(self, credentials: Credentials, hashed: bytes) -> bool:
        """Return whether the pair was checked before and is good for this hash; takes microseconds."""
        return self._digest(credentials, hashed) in self._digests

    def _digest(self, credentials: Credentials, hashed: bytes) -> bytes:
        name = credentials.name.encode()
        text = len(name).to_bytes(4, "big") + name + len(hashed).to_bytes(4, "big") + hashed + credentials.password
        return hmac.digest(self._key, text, "sha256")


class Users:
    """The users of the web configuration.

    Args:
        hashes: bcrypt hashes by user name.
        good_pairs: What is remembered, also over reloads.
        tokens: SHA-256 of bearer tokens, in hexadecimal, by user name.
    """

    def __init__(
        self,
        hashes: Mapping[str, str],
        good_pairs: GoodPairs | None = None,
        tokens: Mapping[str, str] | None = None,
    ) -> None:
        self._hashes = {name: hashed.encode() for name, hashed in hashes.items()}
        self._fake_hash = next(iter(self._hashes.values()), b"$2b$10$")[:7] + _FAKE_TAIL
        self._good_pairs = good_pairs or GoodPairs()
        self._tokens = {name: bytes.fromhex(digest) for name, digest in (tokens or {}).items()}

    @property
    def have_tokens(self) -> bool:
        """Whether some of them show a bearer token."""
        return bool(self._tokens)

    def __bool__(self) -> bool:
        """Return True when there are any."""
        return bool(self._hashes or self._tokens)

    def remembers(self, credentials: Credentials) -> bool:
        """Return whether this pair was checked before and is good; takes microseconds."""
        return self._good_pairs.has(credentials, self._hashes.get(credentials.name, self._fake_hash))

    def name_of_token(self, token: bytes) -> str | None:
        """Return whose token this is; compares with all of them, in microseconds whatever the token.

        A token is long and random, unlike a password, so a fast digest is enough.
        """
        digest = hashlib.sha256(token).digest()
        names = [name for name, known in self._tokens.items() if hmac.compare_digest(known, digest)]
        return names[0] if names else None

    def check(self, credentials: Credentials) -> bool:
        """Return whether the password is the user's; takes tens of milliseconds of CPU, so never in the event loop."""
        hashed = self._hashes.get(credentials.name)
        too_long = len(credentials.password) > _BCRYPT_MAX_BYTES  # bcrypt would compare the first 72 bytes only
        password = credentials.password[:_BCRYPT_MAX_BYTES].replace(b"\0", b"")
        good = self._matches(password, hashed or self._fake_hash)
        if not good or hashed is None or too_long or b"\0" in credentials.password:
            return False
        self._good_pairs.add(credentials, hashed)
        return True

    def _matches(self, password: bytes, hashed: bytes) -> bool:
        import bcrypt  # most daemons have no users

        try:
            return bcrypt.checkpw(password, hashed)
        except ValueError:  # a hash that bcrypt cannot read; refused at load, save for the fake one
            return False
