"""Serves /metrics straight from the rendered bytes, without a framework in between."""

from collections.abc import Iterable, Iterator
from urllib.parse import parse_qs

from bcon_exporter.outputs.http.replies import (
    Receive,
    Scope,
    Send,
    http_error,
    send_error,
)
from bcon_exporter.outputs.metrics import Exposition
from bcon_exporter.outputs.metrics.exposition import Scrape
from bcon_exporter.outputs.metrics.negotiation import accepts_gzip, choose_format

_MAX_NAMES = 256
_SENT_AT_ONCE_BYTES = 256 * 1024


class ScrapeApp:
    """ASGI application of one path."""

    def __init__(self, exposition: Exposition) -> None:
        self._exposition = exposition

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer in the format and encoding that the scraper prefers."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        try:
            query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=_MAX_NAMES)
        except ValueError:
            await send_error(send, http_error(400, f"at most {_MAX_NAMES} name[] parameters are read"))
            return
        scrape = self._exposition.answer(
            choose_format(headers.get(b"accept", "")),
            compress=accepts_gzip(headers.get(b"accept-encoding", "")),
            names=frozenset(query.get("name[]", ())),
        )
        await send({"type": "http.response.start", "status": 200, "headers": _headers(scrape)})
        for piece in _join_small(scrape.pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _headers(scrape: Scrape) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", scrape.content_type.encode()),
        (b"content-length", str(sum(map(len, scrape.pieces))).encode()),
        (b"vary", b"accept, accept-encoding"),
        *([(b"content-encoding", scrape.encoding.encode())] if scrape.encoding else []),
    ]


def _join_small(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes, small ones together: each that is sent takes its time."""
    small: list[bytes] = []
    for piece in pieces:
        small.append(piece)
        if sum(map(len, small)) >= _SENT_AT_ONCE_BYTES:
            yield b"".join(small)
            small.clear()
    if small:
        yield b"".join(small)
