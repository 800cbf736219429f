"""Chooses the format and encoding that a scraper prefers."""

from bcon_exporter.outputs.metrics.writing import Format

CONTENT_TYPES: dict[Format, str] = {
    "text": "text/plain; version=0.0.4; charset=utf-8",
    "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
}


def choose_format(accept: str) -> Format:
    """Return the format with the highest quality that we write; plain text when nothing fits."""
    best: Format = "text"
    best_quality = 0.0
    for media_range in accept.split(","):
        media_type, parameters, quality = _parse_range(media_range)
        fmt = _format_of(media_type, parameters.get("version"))
        if fmt is not None and quality > best_quality:
            best, best_quality = fmt, quality
    return best


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether the client takes gzip."""
    for coding in accept_encoding.split(","):
        name, _, quality = _parse_range(coding)
        if name in ("gzip", "*"):
            return quality > 0
    return False


def _format_of(media_type: str, version: str | None) -> Format | None:
    if media_type == "application/openmetrics-text" and version in (None, "1.0.0", "0.0.1"):
        return "openmetrics"
    if media_type in ("text/plain", "text/*", "*/*") and version in (None, "0.0.4"):
        return "text"
    return None


def _parse_range(media_range: str) -> tuple[str, dict[str, str], float]:
    name, *rest = (piece.strip() for piece in media_range.split(";"))
    parameters = dict(_split(piece) for piece in rest if "=" in piece)
    return name.lower(), parameters, _quality(parameters.get("q", "1"))


def _split(piece: str) -> tuple[str, str]:
    key, _, value = piece.partition("=")
    return key.strip().lower(), value.strip().strip('"')


def _quality(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0
