"""Sends one message with apprise and ends: the daemon starts it as a process of its own.

A receiver or its DNS may hang: a process can be killed, a thread cannot. apprise's weight is gone with it, and what is
changed here of the libraries is changed nowhere else. Standard input has the message as JSON, standard output gets the
outcome; neither the address nor anything of an answer stands in it.
"""

import json
import logging
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("failure", "warning", "success", "info")
MANY_TARGETS = "its address has several targets: give each an address of its own; see docs/notify.md"
"""When one of them fails, the others would get every repeat."""
_NOT_TAKEN = "apprise does not take its address; see docs/notify.md"


class _Outcome:
    """What the last request came to."""

    def __init__(self) -> None:
        self.problem = ""


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
    outcome = _Outcome()
    _confine_requests(message["key"], outcome)
    _name_mails(message["key"])
    receiver = _instantiate(message["url"])
    if fault := _find_fault(receiver):
        return fault
    try:
        arrived = receiver.notify(
            title=message["title"], body=message["body"], notify_type=message["kind"], body_format="text"
        )
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


def _confine_requests(key: str, outcome: _Outcome) -> None:
    """Let every request follow no redirect and no proxy of the environment, and carry the message's key."""
    import requests

    original: Callable[..., requests.Response] = requests.Session.request

    def request(session: requests.Session, *words: Any, **options: Any) -> requests.Response:
        session.trust_env = False
        headers = {**(options.get("headers") or {}), "X-Sequence-ID": key, "X-Message-ID": key}
        try:
            answer = original(session, *words, **{**options, "allow_redirects": False, "headers": headers})
        except requests.RequestException as error:
            outcome.problem = _describe(error)
            raise
        good = range(200, 300)
        outcome.problem = "" if answer.status_code in good else f"HTTP status {answer.status_code}"
        return answer

    requests.Session.request = request  # type: ignore[method-assign, assignment]


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


def _name_mails(key: str) -> None:
    """Give a mail the message's key as its Message-ID, so that a repeat is known as one."""
    from apprise.plugins.email import base

    def make_msgid(idstring: str | None = None, domain: str | None = None) -> str:  # noqa: ARG001 -- as the library's own
        return f"<{key}@{domain or 'bcon-exporter'}>"

    base.make_msgid = make_msgid  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
