"""Reads from a line of a failed connection to whom it went: the host, and the port where it stands beside it.

Clients of all languages write this in some dozen ways: a URL, `host='db', port=5432`, `server at "db" (10.0.0.3), port
5432`, `db/10.0.0.3:5432`, `db:5432`, `('10.0.0.3', 5432)`. A name says more than the address that it led to.
"""

from collections.abc import Iterator
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.neighbours import host_of, is_address, is_local, port_of

MAX_LINE = 1000
"""So much of a line is searched."""

_HOST = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_])?"
_IP = r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-fA-F]*:[0-9a-fA-F:]{1,44}\])"
_WHO, _PORT = rf"(?P<host>{_HOST}|{_IP})", r"(?P<port>[0-9]{1,5})"
_ENDS = r"(?:$|[^\w.:-]|[.:](?:$|[^\w]))"
_WAYS = tuple(
    re2.compile(way)
    for way in (
        rf'\bupstream: "\w+://{_WHO}(?::{_PORT})?',
        rf"\b[a-z][a-z0-9+.-]{{1,20}}://(?:[^\s/@\"'<>]*@)?{_WHO}(?::{_PORT})?(?:[/?#\s\"'`\]),;:}}]|$)",
        rf"\bhost=['\"]?(?P<host>{_HOST})['\"]?(?:,? port=['\"]?{_PORT})?(?:['\"), ]|$)",
        rf"\bHost: (?P<host>{_HOST}), Port: {_PORT}",
        rf'"(?:brokers?|servers?|addr(?:ess)?|host|peer|target|upstream|endpoint)": ?"(?P<host>{_HOST}):{_PORT}"',
        rf"\bserver at \\?\"?(?P<host>{_HOST})\\?\"?(?: \({_IP}\))?, port {_PORT}",
        rf"\bserver (?:host )?(?:on )?'(?P<host>{_HOST})(?::{_PORT})?'",
        rf"\bhost \"(?P<host>{_HOST})\" port {_PORT}",
        rf"\bfor \"(?P<host>{_HOST})\" port {_PORT}",
        rf"\bto {_WHO}(?: \({_IP}\))? port {_PORT}",
        rf"\bto (?P<host>{_HOST}) \({_HOST}\)\|{_IP}\|:{_PORT}",
        rf"(?:^|[\s(\"'=]){_IP}:{_PORT} \((?P<host>[A-Za-z_][\w.-]*)(?::[0-9]{{1,5}})?\)",
        rf"(?:^|[\s(\"'=])(?P<host>[A-Za-z_][\w.-]*)/(?:{_IP}|<unresolved>):{_PORT}{_ENDS}",
        rf"(?:^|\s)(?P<host>{_HOST}) \({_IP}:{_PORT}\)",
        rf"(?:^|[\s\"'`(\[=@,])(?P<host>[A-Za-z_][\w.-]{{0,62}}):(?P<port>[0-9]{{2,5}})(?:/[0-9a-z]+)?{_ENDS}",
        rf"\bServer [\w.-]+/(?P<host>{_HOST}) is DOWN",
        rf"\bipv4[:#](?P<host>{_IP}):{_PORT}:? ",
        rf"->(?P<host>{_IP}):{_PORT}{_ENDS}",
        rf"\('(?P<host>{_HOST})', {_PORT}\)",
    )
)
"""The surest first. A host that is a word of the sentence is sorted out by `_NO_HOSTS`."""
_DOCUMENTS = re2.compile(r"(?i)(?:\(see|\bsee|\bvisit|\brefer to|\bread)(?: also)?:? https?://\S+")
_LINK_HOSTS = re2.compile(
    r"(?i)https?://(?:curl\.(?:haxx\.)?se|docs?\.|[\w.-]*readthedocs|github\.com|pris\.ly|errors\.)\S*"
)
_OTHER_SIDES = re2.compile(
    rf"(?i)(?:\bclient[:=]? ?|\bremote_(?:ip|addr|host)\W{{1,4}}|\bl?addr=\(?'?|\bfrom |, host: \"|, server: )"
    rf"(?:{_IP}|localhost)(?:', [0-9]+|:[0-9]{{1,5}})?"
)
"""Who asked this program, and its own end of the connection."""
_TOPICS = re2.compile(r"\bfor [\w.-]+-[0-9]+:[0-9]+ ms\b")
"""A partition of a topic, and how long its records have waited."""
_ADDRESS = re2.compile(
    rf"(?:^|[^0-9A-Za-z.:])((?:{_IP}|localhost)(?::[0-9]{{1,5}})?)(?:$|[^0-9A-Za-z.-]|\.(?:$|[^0-9]))"
)
_RESOLVER = re2.compile(r"^127\.0\.0\.11\b|:53$")
"""Docker's own DNS server, or another: it is asked about the peer."""
_SOURCES, _NO_HOSTS = (
    frozenset(words.split())
    for words in (
        "py pyx js mjs cjs ts tsx jsx go java kt scala groovy clj rb php rs cs fs cpp cc c h ex exs erl pl pm lua swift"
        " sh vue html conf cfg yml yaml json toml ini log sql xml lock so jar",
        "a an the to at on in of for from by is it any all none null undefined error errno err code status address addr"
        " host hostname server servers node seed bootstrap remote upstream backend master primary replica broker"
        " database port line column pid uid gid ipv4 ipv6 tcp udp http https grpc dns socket time timeout after attempt"
        " id os name service http1 specified this that with your our its their one other another us them",
    )
)
"""Endings of files, which stand before `:12` in traces; and words of a sentence that stand where a name could."""


_FIELD = re2.compile(
    r"(?i)\b(?:url|uri|base_?url|host|hostname|address|addr|server|broker|endpoint|peer|upstream|target)['\"]?"
    r"(?:: |=|=> |:)['\"]([^\s'\"]{1,200})['\"]"
)
"""A setting or a part of an error object that says whom it was about."""


class Named(NamedTuple):
    """A host as the line writes it, and the port beside it; None where it names none."""

    host: str
    port: int | None

    @property
    def text(self) -> str:
        """`db:5432`."""
        return self.host if self.port is None else f"{self.host}:{self.port}"


def peer_in(line: str, by_signature: str | None, *, unresolved: bool = False) -> str | None:
    """The peer of a failed connection as `host` or `host:port`, None where the line names none.

    Args:
        line: The line that tells of the failure.
        by_signature: What the signature's own expression found.
        unresolved: A name could not be resolved: then the signature knows which.
    """
    line = _without_others(line[:MAX_LINE])
    named = [one for one in find_named(line) if not _RESOLVER.search(one.text)]
    known = _believable(by_signature)
    names = [one for one in named if not is_address(one.host) and not is_local(one.host)]
    if known is not None and not is_address(host_of(known)) and not is_local(known):
        same = next((one for one in names if one.host == host_of(known) and one.port is not None), None)
        if unresolved or not names:
            return known if same is None else same.text
    addresses: list[str] = list(dict.fromkeys(match.group(1) for match in _ADDRESS.finditer(line)))
    addresses = [one for one in addresses if not _RESOLVER.search(one)]
    local = [one for one in addresses if is_local(one)]
    if local and len(addresses) == 1:
        return local[0]  # it is where the name led, or no name was meant
    if names:
        ports = {port_of(one) for one in addresses} - {None}
        port = names[0].port or (ports.pop() if len(ports) == 1 else None)
        return Named(names[0].host, port).text
    if known is not None or named:
        return known or named[0].text
    return addresses[0] if len(addresses) == 1 else None


def peer_beside(text: str) -> str | None:
    """Whom a line of an object or a trace names that stands below a failure: `url: 'http://api:8080/orders'`."""
    match = _FIELD.search(text[:MAX_LINE])
    if match is None:
        return None
    found = next(find_named(f"{match.group(1)} "), None) if "://" in match.group(1) or ":" in match.group(1) else None
    if found is not None:
        return found.text
    host = match.group(1)
    return host if _is_host(host) and re2.fullmatch(rf"{_HOST}|{_IP}", host) is not None else None


def find_named(line: str) -> Iterator[Named]:
    """The hosts that a line names as somebody's address, the surest first."""
    for way in _WAYS:
        for match in way.finditer(line):
            groups = match.groupdict()
            host = groups["host"].rstrip(".").strip("[]")
            if not _is_host(host):
                continue
            port = int(groups["port"]) if groups.get("port") else None
            yield Named(host, port if port is None or 0 < port < 65_536 else None)  # noqa: PLR2004 - 16 bits


def _is_host(host: str) -> bool:
    if not host or host.isdigit() or host.lower() in _NO_HOSTS:
        return False
    return host.lower().rpartition(".")[2] not in _SOURCES or "." not in host


def _without_others(line: str) -> str:
    """The line without links to manuals, the client who asked, and its own end of the connection."""
    for part in (_DOCUMENTS, _LINK_HOSTS, _OTHER_SIDES, _TOPICS):
        line = part.sub(" ", line)
    return line


def _believable(peer: str | None) -> str | None:
    if peer is None or not _is_host(host_of(peer)):
        return None
    return peer if port_of(peer) is not None or not peer.endswith(":") else peer.rstrip(":")
