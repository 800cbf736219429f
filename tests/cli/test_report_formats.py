"""--out takes FORMAT=FILE, says what is wrong with it before any work, and writes what --format prints."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from bcon_exporter.cli.report_formats import (
    CHECK_FORMATS,
    VERIFY_FORMATS,
    add_report_formats,
    parse_outputs,
    write_report,
)
from bcon_exporter.errors import InvalidInputError, SettingsError
from bcon_exporter.outputs.ci_formats import CiReport
from tests.outputs.scenes import drift_report

CI = CiReport("check", "shop", "ok", "nothing found")


@pytest.mark.parametrize("word", ["table", "table=", "=x", "yaml=x", "junit", ""])
def test_what_is_no_format_and_file_is_refused(word: str) -> None:
    with pytest.raises(SettingsError, match="must be FORMAT=FILE"):
        parse_outputs([word], CHECK_FORMATS)


def test_sarif_is_only_for_what_has_files() -> None:
    with pytest.raises(SettingsError):
        parse_outputs(["sarif=x"], VERIFY_FORMATS)


def test_a_file_name_may_hold_an_equals_sign() -> None:
    assert parse_outputs(["json=a=b"], CHECK_FORMATS) == (("json", Path("a=b")),)


def test_every_format_is_written_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_report_formats(parser, CHECK_FORMATS)
    given = parser.parse_args([f"--out={form}={tmp_path / form}" for form in CHECK_FORMATS])
    write_report("json", parse_outputs(given.out, CHECK_FORMATS), drift_report(), lambda: CI)
    printed = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "json").read_text()) == printed
    assert list(printed) == ["result"]
    for form in CHECK_FORMATS:
        assert (tmp_path / form).read_text().endswith("\n"), form
    assert "\x1b" not in (tmp_path / "table").read_text()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be written"):
        write_report("github", (("json", tmp_path / "no" / "folder"),), drift_report(), lambda: CI)
