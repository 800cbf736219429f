"""Parses the peer of a failed connection from its line: the host, and the port if it stands beside it.

Clients of all languages write this in some dozen ways: a URL, `host='db', port=5432`, `server at "db" (10.0.0.3), port
5432`, `db/10.0.0.3:5432`, `db:5432`, `('10.0.0.3', 5432)`. A name says more than the address that it led to.
"""

from collections.abc import Iterator
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.container_lookup import host_of, is_address, is_localhost, port_of

MAX_LINE = 1000
"""So many characters of a line are searched."""

_HOST = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_])?"
_IP = r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-fA-F]*:[0-9a-fA-F:]{1,44}\])"
_WHO, _PORT = rf"(?P<host>{_HOST}|{_IP})", r"(?P<port>[0-9]{1,5})"
_ENDS = r"(?:$|[^\w.:-]|[.:](?:$|[^\w]))"
_PEER_PATTERNS = tuple(
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
"""The surest pattern first. `_NO_HOSTS` sorts out words of a sentence that are no host."""
_URL = re2.compile(rf"\bhttps?://(?:[^\s/@]*@)?({_HOST})(?::([0-9]{{1,5}}))?(?:[/?#\s\"'`\]),;:}}]|$)")
_DOCUMENTS = re2.compile(r"(?i)(?:\(see|\bsee|\bvisit|\brefer to|\bread)(?: also)?:? https?://\S+")
_LINK_HOSTS = re2.compile(
    r"(?i)https?://(?:curl\.(?:haxx\.)?se|docs?\.|[\w.-]*readthedocs|github\.com|pris\.ly|errors\.)\S*"
)
_OTHER_SIDES = re2.compile(
    rf"(?i)(?:\bclient[:=]? ?|\bremote_(?:ip|addr|host)\W{{1,4}}|\bl?addr=\(?'?|\bfrom |, host: \"|, server: )"
    rf"(?:{_IP}|localhost)(?:', [0-9]+|:[0-9]{{1,5}})?"
)
"""The client of this program, and its own end of the connection."""
_ACCOUNT_HOST = re2.compile(r"('[^'@\s]{0,64}'@)'[^'\s]{1,255}'")
"""A MySQL account, 'erp'@'172.18.0.3': its host is where the client asks from, as the server sees it."""
_TOPICS = re2.compile(r"\bfor [\w.-]+-[0-9]+:[0-9]+ ms\b")
"""A partition of a topic, and how long its records have waited."""
_ADDRESS = re2.compile(
    rf"(?:^|[^0-9A-Za-z.:])((?:{_IP}|localhost)(?::[0-9]{{1,5}})?)(?:$|[^0-9A-Za-z.-]|\.(?:$|[^0-9]))"
)
_RESOLVER = re2.compile(r"^127\.0\.0\.11\b|:53$")
"""A DNS server, Docker's own or another: it is not the peer, it is asked about the peer."""
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
"""File extensions, which stand before `:12` in traces; and words of a sentence in the place of a host."""


_FIELD = re2.compile(
    r"(?i)\b(?:url|uri|base_?url|host|hostname|address|addr|server|broker|endpoint|peer|upstream|target)['\"]?"
    r"(?:: |=|=> |:)['\"]([^\s'\"]{1,200})['\"]"
)
"""A setting, or a field of an error object, that names a host."""


class HostPort(NamedTuple):
    """A host as the line writes it, and its port; None where the line has none."""

    host: str
    port: int | None

    @property
    def text(self) -> str:
        """`db:5432`."""
        return self.host if self.port is None else f"{self.host}:{self.port}"


def parse_peer(line: str, by_signature: str | None, *, unresolved: bool = False) -> str | None:
    """Return the peer of a failed connection as `host` or `host:port`; None where the line names none.

    Args:
        line: The line that tells of the failure.
        by_signature: What the signature's own expression found.
        unresolved: A name could not be resolved: then the signature knows which.
    """
    line = _without_client_and_links(line[:MAX_LINE])
    hosts = [host for host in find_hosts(line) if not _RESOLVER.search(host.text)]
    known = _valid_peer(by_signature)
    names = [host for host in hosts if not is_address(host.host) and not is_localhost(host.host)]
    if known is not None and not is_address(host_of(known)) and not is_localhost(known):
        same = next((host for host in names if host.host == host_of(known) and host.port is not None), None)
        if unresolved or not names:
            return known if same is None else same.text
    addresses: list[str] = list(dict.fromkeys(match.group(1) for match in _ADDRESS.finditer(line)))
    addresses = [address for address in addresses if not _RESOLVER.search(address)]
    local = [address for address in addresses if is_localhost(address)]
    if local and len(addresses) == 1:
        return local[0]  # it is where the name led, or no name was meant
    if names:
        ports = {port_of(address) for address in addresses} - {None}
        port = names[0].port or (ports.pop() if len(ports) == 1 else None)
        return HostPort(names[0].host, port).text
    if known is not None or hosts:
        return known or hosts[0].text
    return addresses[0] if len(addresses) == 1 else None


def parse_peer_field(text: str) -> str | None:
    """Return the host in a line of an object or trace below a failure: `url: 'http://api:8080/orders'`."""
    match = _FIELD.search(text[:MAX_LINE])
    if match is None:
        return None
    named = next(find_hosts(f"{match.group(1)} "), None) if "://" in match.group(1) or ":" in match.group(1) else None
    if named is not None:
        return named.text
    host = match.group(1)
    return host if _is_host(host) and re2.fullmatch(rf"{_HOST}|{_IP}", host) is not None else None


def parse_url_host(text: str) -> str | None:
    """Return the host and port of the first address with a scheme in a line: `http://api:8080/orders`."""
    match = _URL.search(_without_client_and_links(text[:MAX_LINE]))
    if match is None or not _is_host(match.group(1)):
        return None
    return HostPort(match.group(1), int(match.group(2)) if match.group(2) else None).text


def find_hosts(line: str) -> Iterator[HostPort]:
    """Find the hosts in a line, the surest first."""
    for way in _PEER_PATTERNS:
        for match in way.finditer(line):
            groups = match.groupdict()
            host = groups["host"].rstrip(".").strip("[]")
            if not _is_host(host):
                continue
            port = int(groups["port"]) if groups.get("port") else None
            yield HostPort(host, port if port is None or 0 < port < 65_536 else None)  # noqa: PLR2004 - 16 bits


def _is_host(host: str) -> bool:
    if not host or host.isdigit() or host.lower() in _NO_HOSTS:
        return False
    return host.lower().rpartition(".")[2] not in _SOURCES or "." not in host


def _without_client_and_links(line: str) -> str:
    """Return the line without links to manuals, the client, and its own end of the connection."""
    line = _ACCOUNT_HOST.sub(r"\1", line)
    for part in (_DOCUMENTS, _LINK_HOSTS, _OTHER_SIDES, _TOPICS):
        line = part.sub(" ", line)
    return line


def _valid_peer(peer: str | None) -> str | None:
    if peer is None or not _is_host(host_of(peer)):
        return None
    return peer if port_of(peer) is not None or not peer.endswith(":") else peer.rstrip(":")
