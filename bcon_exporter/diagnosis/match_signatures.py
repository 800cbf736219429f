"""Which signatures a single line shows, whoever has brought it."""

from bcon_exporter.diagnosis.candidate_lines import line_filter_of
from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.signature_hits import Match, find_hits
from bcon_exporter.model.signatures import Catalogue, Level


def recognise(line: str, catalogue: Catalogue) -> tuple[str, ...]:
    """Return ids of the signatures that a line shows if it is an error, the one that says why first."""
    text = " ".join(line.encode("utf-8", "replace").decode().split())
    buffer = LineBuffer([text])
    patterns = line_filter_of(catalogue).find_lines(buffer).get(0, [])
    hits = find_hits([Match(text, buffer.raw, patterns)], Level.ERROR, catalogue, fails=True)
    return tuple(hit.signature.id for hit in hits)
