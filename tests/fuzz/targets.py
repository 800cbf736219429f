"""What is fuzzed: for each function that reads text from outside, what must hold whatever it gets.

A check raises AssertionError, or what the function is not declared to raise.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import yaml

from bcon_exporter.compose.failures import explain_failure
from bcon_exporter.drift.container_references import strip_replica_number
from bcon_exporter.engine.http_parser import AnswerReader, MalformedAnswerError
from bcon_exporter.engine.parse import parse_log_stream
from bcon_exporter.engine.parse.container import parse_compose, parse_labels
from bcon_exporter.engine.parse.log_stream import MAX_LINE_CHARS
from bcon_exporter.model.naming import normalise_name
from bcon_exporter.outputs.http.access_control import host_of
from bcon_exporter.outputs.http.users import parse_basic
from bcon_exporter.outputs.metrics.negotiation import accepts_gzip, choose_format
from bcon_exporter.secrets import cleaning, masking
from bcon_exporter.yaml_faults import YAML_FAULTS, line_of_fault, tell_fault

if TYPE_CHECKING:
    from collections.abc import Callable

BODY_CAP_BYTES = 4096


def decode(raw: bytes) -> str:
    """Any text, lone surrogates included, as JSON may bring it."""
    return raw.decode("utf-8", "surrogateescape")


def assert_clean(text: str, *, bound: int) -> None:
    """Nothing in it acts on a terminal, it is UTF-8 and no longer than allowed."""
    assert len(text) <= bound
    text.encode()
    assert cleaning.strip_controls(text) == text


def check_cleaning(raw: bytes) -> None:
    """Clean, one line where it is a name, and the same when cleaned again."""
    text = decode(raw)
    assert_clean(cleaning.strip_controls(text), bound=cleaning.MAX_INPUT_CHARS)
    name = cleaning.clean_name(text)
    assert_clean(name, bound=cleaning.MAX_NAME_CHARS)
    assert "\n" not in name
    assert cleaning.clean_name(name) == name


def check_masking(raw: bytes) -> None:
    """Clean and bounded, as many lines as before, the same when masked again."""
    text = cleaning.strip_controls(decode(raw))
    masked = masking.mask_text(text)
    assert_clean(masked, bound=len(text) + 3 * (text.count("\n") + 1) + len(text))
    assert masked.count("\n") == text.count("\n")
    assert masking.mask_text(masked) == masked
    lines = text.split("\n")
    assert len(masking.mask_lines(lines)) == len(lines)
    assert_clean(masking.safe_name(decode(raw)), bound=cleaning.MAX_NAME_CHARS)
    masking.safe_pair(decode(raw), decode(raw))


def check_log_framing(raw: bytes) -> None:
    """Lines, clean and bounded, whether or not there was a terminal."""
    for tty in (True, False, None):
        for line in parse_log_stream(raw, tty=tty):
            assert_clean(line.text, bound=MAX_LINE_CHARS)
            assert "\n" not in line.text


def check_http_reader(raw: bytes) -> None:
    """The same answers whether the bytes come at once or one by one; nothing but the declared error."""
    assert read_answers(raw, len(raw) or 1) == read_answers(raw, 1)


def read_answers(raw: bytes, piece_bytes: int) -> list[tuple[int, bytes, bool]]:
    """Status, body and cut of each answer in a connection's bytes; ends where they are malformed."""
    reader = AnswerReader(BODY_CAP_BYTES)
    found: list[tuple[int, bytes, bool]] = []
    with contextlib.suppress(MalformedAnswerError):
        for start in range(0, len(raw), piece_bytes):
            reader.feed(raw[start : start + piece_bytes])
            while (answer := reader.take()) is not None:
                assert len(answer.body) <= BODY_CAP_BYTES
                answer.header("content-type")
                found.append((answer.status, answer.body, answer.cut))
                if answer.cut or not reader.reusable:
                    return found
                reader.feed(b"")
        reader.feed_end()
    return found


def check_credentials(raw: bytes) -> None:
    """A header is read or refused, as Latin-1 as servers hand it on."""
    header = raw.decode("latin-1")
    for text in (header, f"Basic {header}"):
        credentials = parse_basic(text)
        assert credentials is None or isinstance(credentials.password, bytes)
    assert host_of(header) == host_of(header).lower()
    assert choose_format(header) in ("text", "openmetrics")
    assert accepts_gzip(header) in (True, False)


def check_yaml_errors(raw: bytes) -> None:
    """Nothing but the known faults, told without a word of the file."""
    fault = fault_in(raw)
    if fault is not None:
        assert tell_fault(fault) in ("is not valid YAML", "is nested too deeply", "has a value that YAML cannot read")
        assert (line_of_fault(fault) or 1) >= 1


def fault_in(raw: bytes) -> Exception | None:
    """What the YAML reader stumbles over."""
    try:
        yaml.safe_load(raw)
    except YAML_FAULTS as error:
        return error
    return None


def check_compose_names(raw: bytes) -> None:
    """Names that labels claim and what the binary complains of: clean, bounded, on one line."""
    text = decode(raw)
    labels = parse_labels({f"com.docker.compose.{key}": text for key in ("project", "service", "container-number")})
    identity = parse_compose(labels)
    if identity is not None:
        assert_clean(identity.project, bound=cleaning.MAX_NAME_CHARS)
        assert_clean(identity.service, bound=cleaning.MAX_NAME_CHARS)
    assert text.endswith(normalise_name(text))
    assert text.startswith(strip_replica_number(text) or "")
    message = explain_failure(cleaning.strip_controls(text), ("compose.yml",)).message
    assert_clean(message, bound=cleaning.MAX_INPUT_CHARS)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "strip_controls": check_cleaning,
    "masking": check_masking,
    "log_framing": check_log_framing,
    "http_reader": check_http_reader,
    "credentials": check_credentials,
    "yaml_errors": check_yaml_errors,
    "compose_names": check_compose_names,
}
"""Name of the folder of kept cases → check."""
