"""Serves /metrics straight from the rendered bytes, without a framework in between."""

from urllib.parse import parse_qs

from bcon_exporter.outputs.http.replies import (
    Receive,
    Scope,
    Send,
    http_error,
    send_error,
    send_reply,
)
from bcon_exporter.outputs.metrics import Exposition
from bcon_exporter.outputs.metrics.exposition import Scrape
from bcon_exporter.outputs.metrics.negotiation import accepts_gzip, choose_format

_MAX_NAMES = 256


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
        await send_reply(send, 200, scrape.body, scrape.content_type.encode(), _further_headers(scrape))


def _further_headers(scrape: Scrape) -> list[tuple[bytes, bytes]]:
    encoding = [(b"content-encoding", scrape.encoding.encode())] if scrape.encoding else []
    return [(b"vary", b"accept, accept-encoding"), *encoding]
