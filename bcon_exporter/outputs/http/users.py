"""Checks user names and passwords against bcrypt hashes, at the same cost for known and unknown names."""

import base64
import binascii
import hmac
import secrets
from collections.abc import Mapping
from typing import NamedTuple

_FAKE_TAIL = b"." * 53
"""Salt and hash of nothing known: with the users' own cost before it, an unknown name takes as long as a known one."""
_BCRYPT_MAX_BYTES = 72
_CACHE_SIZE = 128


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
    except (binascii.Error, UnicodeDecodeError):
        return None


class Users:
    """The users of the web configuration.

    A good pair is remembered by a keyed digest, since a bcrypt check takes tens of milliseconds of CPU each time.
    """

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = {name: hashed.encode() for name, hashed in hashes.items()}
        self._fake_hash = next(iter(self._hashes.values()), b"$2b$10$")[:7] + _FAKE_TAIL
        self._key = secrets.token_bytes(32)
        self._known: dict[bytes, None] = {}

    def __bool__(self) -> bool:
        """Return True when there are any."""
        return bool(self._hashes)

    def remembers(self, credentials: Credentials) -> bool:
        """Tell whether this very pair was found good before; takes microseconds."""
        return self._digest(credentials) in self._known

    def check(self, credentials: Credentials) -> bool:
        """Tell whether the password is the user's; takes tens of milliseconds of CPU, so never in the event loop."""
        hashed = self._hashes.get(credentials.name)
        too_long = len(credentials.password) > _BCRYPT_MAX_BYTES  # bcrypt would compare the first 72 bytes only
        password = credentials.password[:_BCRYPT_MAX_BYTES].replace(b"\0", b"")
        good = self._matches(password, hashed or self._fake_hash)
        if not good or hashed is None or too_long or b"\0" in credentials.password:
            return False
        if len(self._known) >= _CACHE_SIZE:
            self._known.clear()
        self._known[self._digest(credentials)] = None
        return True

    def _matches(self, password: bytes, hashed: bytes) -> bool:
        import bcrypt  # most daemons have no users

        try:
            return bcrypt.checkpw(password, hashed)
        except ValueError:  # a hash that bcrypt cannot read; refused at load, save for the fake one
            return False

    def _digest(self, credentials: Credentials) -> bytes:
        name = credentials.name.encode()
        return hmac.digest(self._key, len(name).to_bytes(4, "big") + name + credentials.password, "sha256")
