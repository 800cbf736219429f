"""Signals that come while the daemon starts, before its event loop takes them over, and a Ctrl-C that Python loses.

The imports alone take half a second. Left to their defaults, SIGTERM would end the process as if it had failed, or do
nothing where it is the first of its container, and SIGHUP would end it.

A command is ended by the exception that Ctrl-C raises, wherever it runs. In what the interpreter itself calls, as the
callback at the end of each import or a finaliser, that exception goes nowhere: Python says so, and goes on.
"""

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

AGAIN_AFTER_SECONDS = 0.05
_before: dict[signal.Signals, Any] = {}


def hold_signals() -> None:
    """From now on SIGTERM and SIGINT end the process at once with 0, and SIGHUP waits for `let_reload_through`."""
    for number in (signal.SIGTERM, signal.SIGINT):
        _before[number] = signal.signal(number, _leave)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def let_reload_through() -> None:
    """Let SIGHUP in, also one that came meanwhile: the settings may have been read before they were changed."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def give_signals_back() -> None:
    """Undo `hold_signals`, if that was called: the command turned out to be no daemon."""
    if not _before:
        return
    for number, handler in _before.items():
        signal.signal(number, handler)
    _before.clear()
    let_reload_through()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)  # nothing is served yet, and an exception could get lost in an import


def interrupt_again_if_lost() -> None:
    """From now on a Ctrl-C whose exception goes nowhere comes once more, a moment later."""
    sys.unraisablehook = _interrupt_again


def _interrupt_again(lost: "sys.UnraisableHookArgs") -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    main = threading.main_thread().ident
    again = threading.Timer(AGAIN_AFTER_SECONDS, signal.pthread_kill, (main, signal.SIGINT))
    again.daemon = True
    again.start()  # at once it would be lost like the first
