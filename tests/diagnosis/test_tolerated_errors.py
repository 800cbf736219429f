"""Promise: a complaint after which a program goes on as before is history; a failure that ends it is none."""

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis.log_analysis import analyze
from bcon_exporter.diagnosis.log_text import lines_of
from bcon_exporter.model.findings import SymptomType

CATALOGUE = load_catalogue()


def shows_error(*lines: str) -> bool:
    report = analyze(lines_of(lines), CATALOGUE)
    return SymptomType.LOG_ERROR in {symptom.type for symptom in report.symptoms}


@pytest.mark.parametrize(
    "lines",
    [
        ("find: '/docker-entrypoint.d/': No such file or directory", "shop 10:00:00 INFO ==> setup finished"),
        ("rm: can't remove '/tmp/cache/*': No such file or directory", "cleanup done"),
        ("Device creation failed: -22.", "hwaccel vaapi not available, using software decoding"),
        ("fatal: [web1]: FAILED! => {}", "...ignoring", "PLAY RECAP"),
        ('AddFile() failed to load file "public/en.txt".', "Success! App '7' fully installed."),
        ('nginx: [alert] could not open error log file: open() "/x" failed (13: Permission denied)', "10.0.0.5 GET /"),
    ],
)
def test_what_the_program_goes_on_after_is_history(lines: tuple[str, ...]) -> None:
    assert not shows_error(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("find: '/docker-entrypoint.d/': No such file or directory",),
        ("cat: /run/secrets/key: No such file or directory", "Error: no key was given"),
        ("cp: cannot stat '/app/default.conf': No such file or directory", "starting shop"),
        ("ERROR the cache failed", "falling back to the database"),
        ("curl: (7) Failed to connect to backup port 9000: Connection refused", "done"),
        ("failed to write /x: No space left on device", "continuing without"),
    ],
)
def test_any_other_failure_stays_one(lines: tuple[str, ...]) -> None:
    assert shows_error(*lines)
