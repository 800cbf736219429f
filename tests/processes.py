"""A test that starts a process says so by a mark, so that `make unit` can leave it out."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

STARTS = frozenset({"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""What Python's audit hooks call it."""
MARKS = ("integration", "docker", "alone")

_unmarked: list[str] = []
"""The test that is running, if it has no such mark."""


def _refuse(event: str, _arguments: object) -> None:
    if event in STARTS and _unmarked:
        message = f"{_unmarked[-1]} starts a process: mark it with pytest.mark.integration"
        raise RuntimeError(message)


sys.addaudithook(_refuse)


@contextmanager
def processes_of(name: str, marks: set[str]) -> Iterator[None]:
    """Refuse each process that is started meanwhile, unless one of the marks allows it."""
    if not marks.isdisjoint(MARKS):
        yield
        return
    _unmarked.append(name)
    try:
        yield
    finally:
        _unmarked.pop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Hold the fixtures of a test to its marks."""
    with processes_of(item.nodeid, {mark.name for mark in item.iter_markers()}):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold a test to its marks; its teardown may end what other tests of the session have begun."""
    with processes_of(item.nodeid, {mark.name for mark in item.iter_markers()}):
        return (yield)
