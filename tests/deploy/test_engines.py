"""Where an engine cannot be made CI fails and says why, and others go on with their own and say so."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.docker.engines import SCRIPT, Run, differences_of, podman_differences_of
from tests.docker.nobody import as_nobody, needs_root


@pytest.mark.integration
@needs_root
@pytest.mark.parametrize(
    ("ci", "wanted", "code", "chosen", "said"),
    [
        ("true", (), 1, "", "Docker 28.5, which cannot be had here"),
        ("", (), 0, "own", "the tests run on this machine's own engine, and on no other"),
        ("", ("26.1",), 1, "", "Docker 26.1, which cannot be had here"),
        ("", ("9.9",), 1, "", "no engine is called 9.9"),
        ("true", ("own",), 0, "own", ""),
    ],
)
def test_an_engine_that_cannot_be_made_is_said(
    ci: str, wanted: tuple[str, ...], code: int, chosen: str, said: str
) -> None:
    environ = {**os.environ, "CI": ci}
    done = subprocess.run(
        [*as_nobody(), SCRIPT, "choose", *wanted], env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (code, chosen), done.stderr
    assert said in done.stderr
    assert ("needs root" in done.stderr) is (wanted not in (("own",), ("9.9",)))


def test_an_engine_differs_as_the_newest_that_is_not_newer() -> None:
    assert differences_of("20.10.24+dfsg1") != differences_of("28.5.2+dfsg4")
    assert differences_of("26.1.5+dfsg1") == differences_of("28.5.2+dfsg4")
    assert not podman_differences_of("4.3.1").tells_oom_kills
    assert podman_differences_of("5.8.6").tells_oom_kills


def test_a_row_of_the_table_says_what_ran_where_and_how_it_went() -> None:
    row = str(Run("guest", "contract, inside", False, 567.4, "dockerd 28.5.2, podman 5.8.6"))
    assert " ".join(row.split()) == "guest contract, inside FAILED 567 s dockerd 28.5.2, podman 5.8.6"
