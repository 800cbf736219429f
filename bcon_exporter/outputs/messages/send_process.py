"""Sends one message with apprise and ends: the daemon starts it as a process of its own.

A receiver or its DNS may hang: a process can be killed, a thread cannot. apprise's weight is gone with it, and what is
changed here of the libraries is changed nowhere else. Standard input has the message as JSON, standard output gets the
outcome; neither the address nor anything of an answer stands in it.
"""

import io
import json
import logging
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import requests

KINDS = ("failure", "warning", "success", "info")
MANY_TARGETS = "its address has several targets: give each an address of its own; see docs/notify.md"
"""When one of them fails, the others would get every repeat."""
_NOT_TAKEN = "apprise does not take its address; see docs/notify.md"


_SHORTEST_PIECE = 2000
"""Where less fits into one, a long message is cut: it would become a hundred SMS."""
_BETWEEN_PIECES_SECONDS = 1.5
"""apprise waits for 5.5 s with most services: the process would be killed before the last piece."""
_NTFY_CHARS = 4000
"""ntfy makes an attachment of more, or refuses it; apprise counts with twice as much."""
_ANSWER_BYTES = 64 * 1024
_ANSWER_SECONDS = 5.0
"""From the head of an answer to its end."""


class _Outcome:
    """What the last request came to."""

    def __init__(self) -> None:
        self.problem = ""


class _Pieces:
    """The pieces of a message that is too long for its service: sent one after the other until one fails.

    Each has a key of its own: a receiver that knows repeats would take the second for one of the first.
    """

    def __init__(self, key: str, receiver: Any) -> None:
        from apprise import OverflowMode

        self._key, self._send = key, receiver.send
        self._number, self._has_failed = 0, False
        receiver.send = self._send_piece
        if receiver.service_name == "ntfy":
            receiver.body_maxlen = min(receiver.body_maxlen, _NTFY_CHARS)
        receiver.request_rate_per_sec = min(receiver.request_rate_per_sec, _BETWEEN_PIECES_SECONDS)
        if receiver.overflow_mode == OverflowMode.UPSTREAM:
            is_long = receiver.body_maxlen >= _SHORTEST_PIECE
            receiver.overflow_mode = OverflowMode.SPLIT if is_long else OverflowMode.TRUNCATE

    def key(self) -> str:
        """Return the key of the piece that is sent now; that of the first is the message's."""
        return self._key if self._number <= 1 else f"{self._key}-{self._number}"

    def _send_piece(self, *words: Any, **options: Any) -> bool:
        if self._has_failed:
            return False
        self._number += 1
        arrived = bool(self._send(*words, **options))
        self._has_failed = not arrived
        return arrived


def main() -> int:
    """Send what standard input holds, or only check the address where there is no title."""
    logging.disable(logging.CRITICAL)  # apprise writes addresses to its log
    message = json.load(sys.stdin)
    problem = check(message["url"]) if "title" not in message else send(message)
    sys.stdout.write(json.dumps({"problem": problem}))
    return 0


def check(url: str) -> str:
    """Return what is wrong with an address; nothing when apprise takes it and it has one target."""
    return _find_fault(_instantiate(url))


def send(message: dict[str, str]) -> str:
    """Send a message and return why it did not arrive; nothing when it did."""
    receiver = _instantiate(message["url"])
    if fault := _find_fault(receiver):
        return fault
    outcome, pieces = _Outcome(), _Pieces(message["key"], receiver)
    _confine_requests(pieces, outcome)
    _name_mails(pieces)
    try:
        arrived = receiver.notify(
            title=message["title"], body=message["body"], notify_type=message["kind"], body_format="text"
        )
    except MemoryError:
        return "what it answers takes too much memory"
    except Exception as error:  # noqa: BLE001 -- any plug-in may raise anything, and its words may hold the address
        return f"apprise failed: {type(error).__name__}"
    return "" if arrived else outcome.problem or "it was not taken"


def _instantiate(url: str) -> Any:
    import apprise

    asset = apprise.AppriseAsset(app_id="bcon-exporter", app_desc="bcon-exporter", http_redirects=False)
    try:
        return apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)
    except Exception:  # noqa: BLE001 -- its words may hold the address
        return None


def _find_fault(receiver: Any) -> str:
    if receiver is None:
        return _NOT_TAKEN
    attempts = getattr(receiver, "retry", 0) + 1  # apprise counts each attempt as a target
    return MANY_TARGETS if len(receiver) > attempts else ""


def _confine_requests(pieces: _Pieces, outcome: _Outcome) -> None:
    """Let every request follow no redirect and no proxy of the environment, and carry the key of its piece.

    Of an answer only the beginning is read, as it was sent: a server that does as it is asked compresses nothing.
    """
    import requests

    original: Callable[..., requests.Response] = requests.Session.request

    def request(session: requests.Session, *words: Any, **options: Any) -> requests.Response:
        session.trust_env = False
        key = pieces.key()
        headers = {
            **(options.get("headers") or {}), "X-Sequence-ID": key, "X-Message-ID": key, "Accept-Encoding": "identity"
        }  # fmt: skip
        changes = {"allow_redirects": False, "stream": True, "headers": headers}
        try:
            answer = original(session, *words, **{**options, **changes})
        except requests.RequestException as error:
            outcome.problem = _describe(error)
            raise
        good = range(200, 300)
        outcome.problem = "" if answer.status_code in good else f"HTTP status {answer.status_code}"
        _keep_beginning(answer)
        return answer

    requests.Session.request = request  # type: ignore[method-assign, assignment]


def _keep_beginning(answer: "requests.Response") -> None:
    """Replace the body of an answer by its beginning, or by nothing when that does not come: the status counts."""
    from urllib3.exceptions import HTTPError

    body = b""
    try:
        with _alarm(_ANSWER_SECONDS):
            body = answer.raw.read(_ANSWER_BYTES, decode_content=False)
    except (_TooSlowError, HTTPError, OSError, ValueError):
        pass
    answer.close()
    answer.raw = io.BytesIO(body)


class _TooSlowError(Exception):
    """An answer has not come to its end in time."""


@contextmanager
def _alarm(seconds: float) -> "Iterator[None]":
    """End what happens in the block when the time is over: a server that sends a byte now and then resets any other."""

    def end(*_: object) -> NoReturn:
        raise _TooSlowError

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _describe(error: Exception) -> str:
    import requests

    match error:
        case requests.exceptions.SSLError():
            return "its certificate is not trusted"
        case requests.Timeout():
            return "no answer in time"
        case requests.ConnectionError():
            return "it cannot be reached"
        case _:
            return "it cannot be asked"


def _name_mails(pieces: _Pieces) -> None:
    """Give a mail the key of its piece as its Message-ID, so that a repeat is known as one."""
    from apprise.plugins.email import base

    def make_msgid(idstring: str | None = None, domain: str | None = None) -> str:  # noqa: ARG001 -- as the library's own
        return f"<{pieces.key()}@{domain or 'bcon-exporter'}>"

    base.make_msgid = make_msgid  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
