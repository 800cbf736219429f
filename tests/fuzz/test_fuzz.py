"""Kept cases and new ones: no text from outside makes a reader fail, act, grow or disagree with itself.

`make test-all` replays what is kept in `cases/TARGET/` and searches a little; `make fuzz` searches long and writes what
it finds there, one file a case, to be kept with the mend.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS
from tests.growth.rows import ANY_UNITS, FRAME_STAMP, HOSTILE_UNITS, SECRET_UNITS, YAML_UNITS
from tests.table_rows import table

CASES = Path(__file__).parent / "cases"
LONG = bool(os.environ.get("TEST_FUZZ"))
EXAMPLES = 20_000 if LONG else 150
HTTP_PIECES = (
    *(
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.0 200\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 204 No\r\n",
        b"\r\n",
        b"\r\n\r\n",
    ),
    *(b"content-length: 3\r\n", b"Content-Length:\t0\r\n", b"transfer-encoding: chunked\r\n", b"connection: close\r\n"),
    *(
        b"3\r\nabc\r\n",
        b"0\r\n",
        b"0\r\n\r\n",
        b"FFFFFFFF\r\n",
        b"1;x\r\na\r\n",
        b"a: b\r\n",
        b"content-length : 1\n",
        b"{}",
    ),
)
FRAME_PIECES = (
    *(
        b"\x01\0\0\0\0\0\0\x20",
        b"\x02\0\0\0\0\0\0\x01",
        b"\x01\0\0\0\xff\xff\xff\xff",
        b"\0\0\0\0\0\0\0\0",
        b"\x01\0\0\0\0\0\0\x1f",
    ),
    FRAME_STAMP.encode(),
    *(b"2026-01-01T00:00:00Z ", b"2026-13-01T00:00:00.000000000Z ", b"\r\n", b"\n", b"\xff\xfe", b"\xed\xa0\x80"),
)
COMPOSE_PIECES = (
    *(
        b"services.web.ports ",
        b"line 1: ",
        b"validating /srv/a.yml: ",
        b"'x' does not match pattern",
        b"yaml: ",
        b"_1",
        b"-2",
    ),
    *(
        b'The \\"A\\" variable is not set',
        b"required variable A is missing a value",
        b"0123456789ab_",
        b"env file /x not found",
    ),
)
AUTH_PIECES = (
    b"Basic ",
    b"QTpC",
    b"QUI=",
    b"=",
    b"\xff",
    b"[::1]",
    b":80",
    b"gzip;q=0,",
    b"text/plain;version=0.0.4;q=",
    b"nan",
    b"1e999",
)
PIECES = {
    "http_reader": HTTP_PIECES,
    "log_framing": FRAME_PIECES,
    "compose_names": COMPOSE_PIECES,
    "credentials": AUTH_PIECES,
    "yaml_errors": tuple(unit.encode() for unit in YAML_UNITS),
    "masking": tuple(unit.encode() for unit in SECRET_UNITS),
}
COMMON = tuple(unit.encode("utf-8", "surrogatepass") for unit in (*ANY_UNITS, *HOSTILE_UNITS))


def kept_cases() -> list[tuple[str, Path]]:
    """Every kept case with its target."""
    return [(folder.name, file) for folder in sorted(CASES.iterdir()) for file in sorted(folder.iterdir())]


@table(("name", "file"), kept_cases(), ids=lambda value: value.name if isinstance(value, Path) else value)
def test_kept_cases_stay_mended(name: str, file: Path) -> None:
    TARGETS[name](file.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_no_text_makes_it_fail(name: str) -> None:
    pieces = st.sampled_from((*PIECES.get(name, ()), *COMMON)) | st.binary(max_size=4)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(pieces, max_size=40).map(b"".join))
    def search(raw: bytes) -> None:
        try:
            TARGETS[name](raw)
        except Exception:
            if LONG:  # the last one that fails is the smallest
                (CASES / name).mkdir(parents=True, exist_ok=True)
                (CASES / name / "found").write_bytes(raw)
            raise

    search()
