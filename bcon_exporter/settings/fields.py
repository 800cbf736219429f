"""The types of settings: durations, addresses, lists, and how people write them."""

import ipaddress
import re  # noqa: TID251 - sees settings
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_settings import NoDecode

from bcon_exporter.model.durations import parse_duration, write_duration
from bcon_exporter.model.receivers import Receiver, name_apart, parse_receivers


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. `host` is an IP address or a name; "" means every address."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as people write it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True when only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]*)):([0-9]{1,5})", re.ASCII)


def parse_address(raw: object) -> Address:
    """Return the address that "127.0.0.1:19877", "[::1]:19877" or ":19877" means.

    Raises:
        ValueError: It is none.
    """
    if isinstance(raw, Address):
        return raw
    match = _ADDRESS.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if match is None:
        msg = 'is not an address; write host:port, for example "127.0.0.1:19877", "[::1]:19877" or ":19877"'
        raise ValueError(msg)
    port = int(match[3])
    if not 0 <= port <= 65535:  # noqa: PLR2004 -- the highest port
        msg = "has a port above 65535"
        raise ValueError(msg)
    return Address(host=match[1] or match[2] or "", port=port)


def split_list(raw: object) -> object:
    """Return the items of "a,b", of ["a,b", "c"] or of a YAML list, in order, without empty ones."""
    if isinstance(raw, str):
        raw = [raw]
    if not isinstance(raw, list | tuple):
        return raw
    if any(not isinstance(item, str) for item in raw):
        msg = "is not a list of texts"
        raise ValueError(msg)
    return tuple(part.strip() for item in raw for part in item.split(",") if part.strip())


def web_url(value: str) -> str:
    """Return a web address without its last slash.

    Raises:
        ValueError: It is none, or holds a user name: addresses are shown in logs and metrics.
    """
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        msg = "is not a web address without user name; write https://host/path"
        raise ValueError(msg)
    return value.rstrip("/")


def secret_url(value: SecretStr) -> SecretStr:
    """Return a web address that is a secret.

    Raises:
        ValueError: It is none; never quotes it.
    """
    url = value.get_secret_value()
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_address = is_web and "@" not in parts.netloc and not parts.fragment
    except ValueError:
        is_address = False
    if not is_address or not (url.isascii() and url.isprintable()) or " " in url:
        msg = "is not a web address without user name; write https://host/path"
        raise ValueError(msg)
    return value


def base_urls(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return web addresses to which a path can be added.

    Raises:
        ValueError: One is none, has a query, or is given twice.
    """
    bases = tuple(web_url(value) for value in values)
    if any(urlsplit(base).query or urlsplit(base).fragment for base in bases):
        msg = "has a query; write https://host/path"
        raise ValueError(msg)
    if len(set(bases)) < len(bases):
        msg = "names one address twice"
        raise ValueError(msg)
    return bases


def folder_url(value: str) -> str:
    """Return a web address to which a name can be added, with a slash at the end.

    Raises:
        ValueError: It has a query.
    """
    return f"{base_urls((value,))[0]}/"


def split_receivers(raw: object) -> object:
    """Return the receivers of one text or of several.

    Raises:
        ValueError: They are written wrong; never quotes them.
    """
    texts = (raw,) if isinstance(raw, str) else raw
    if not isinstance(texts, list | tuple):
        return raw
    if all(isinstance(text, Receiver) for text in texts):
        return tuple(texts)
    if any(not isinstance(text, str) for text in texts):
        msg = "is not a list of texts"
        raise ValueError(msg)
    return name_apart(tuple(receiver for text in texts for receiver in parse_receivers(text)))


def split_map(raw: object) -> object:
    """Return the pairs of "from=to,from=to" or of a YAML mapping."""
    if isinstance(raw, dict):
        return tuple((str(key), str(value)) for key, value in raw.items())
    items = split_list(raw)
    if not isinstance(items, tuple):
        return raw
    pairs = [item.partition("=") for item in items]
    if any(not (equals and before and after) for before, equals, after in pairs):
        msg = 'is not a list of pairs; write "/path/in/labels=/path/here"'
        raise ValueError(msg)
    return tuple((before, after) for before, _, after in pairs)


def refuse_number(raw: object) -> object:
    """Refuse a YAML number, date or truth value where a text belongs, instead of guessing how it was written."""
    if raw is None or isinstance(raw, str | Path):
        return raw
    msg = "is not a text; put it in quotes"
    raise ValueError(msg)


def memory_only(raw: object) -> object:
    """Return None for the word `none`: no file."""
    return None if isinstance(raw, str) and raw.strip().casefold() == "none" else raw


def _expand(path: Path) -> Path:
    return path.expanduser()


Text = Annotated[str, BeforeValidator(refuse_number)]
Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
ListenAddress = Annotated[Address, NoDecode, BeforeValidator(parse_address)]
FilePath = Annotated[Path, BeforeValidator(refuse_number), AfterValidator(_expand)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split_list)]
Paths = Annotated[tuple[FilePath, ...], NoDecode, BeforeValidator(split_list)]
WebUrl = Annotated[str, BeforeValidator(refuse_number), AfterValidator(web_url)]
Receivers = Annotated[tuple[Receiver, ...], NoDecode, BeforeValidator(split_receivers)]
SecretUrl = Annotated[SecretStr, BeforeValidator(refuse_number), AfterValidator(secret_url)]
WebUrls = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split_list), AfterValidator(base_urls)]
PathMap = Annotated[tuple[tuple[str, str], ...], NoDecode, BeforeValidator(split_map)]


def show_default(value: Any) -> str:
    """Return a default as help and documentation show it; "" for none."""
    match value:
        case None | ():
            return ""
        case timedelta():
            return write_duration(value)
        case tuple():
            return ",".join(map(str, value))
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case _:
            return str(value)
