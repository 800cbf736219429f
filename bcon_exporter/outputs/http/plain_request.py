"""Reads the one request that a daemon is asked all day, a plain scrape, from its bytes.

What is not understood to its last byte is nobody's to guess: it goes the long way, to the HTTP parser and the gate.
"""

import re

_MAX_BYTES = 4096
_REQUEST = re.compile(rb"GET /metrics HTTP/1\.1\r\n((?:[A-Za-z-]{1,64}: ?[!-~](?:[ -~]*[!-~])?\r\n)+)\r\n")
_KNOWN = frozenset(
    {"host", "user-agent", "accept", "accept-encoding", "authorization", "x-prometheus-scrape-timeout-seconds"}
)
"""Headers that a scraper sends. Any other one may change what the request means or who sends it."""


def read_plain_scrape(data: bytes) -> dict[str, str] | None:
    """Return the headers of a plain scrape by lower-case name; None where the bytes are anything else, or more.

    Each header stands there once, and the host is among them.
    """
    match = _REQUEST.fullmatch(data) if len(data) <= _MAX_BYTES else None
    if match is None:
        return None
    lines = [line.partition(":") for line in match[1].decode("ascii").split("\r\n")[:-1]]
    headers = {name.lower(): value.strip() for name, _, value in lines}
    if len(headers) < len(lines) or not headers.keys() <= _KNOWN or "host" not in headers:
        return None
    return headers
