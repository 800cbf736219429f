"""A message reaches receivers of five kinds, carries its key, and neither a redirect nor a hang leads astray."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from email import message_from_string, policy
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from pydantic import SecretStr

from bcon_exporter.model.receivers import Receiver
from bcon_exporter.outputs.messages import Outgoing, check_address, deliver, delivery
from bcon_exporter.outputs.messages.send_process import MANY_TARGETS
from tests.outputs.messages.receivers import HttpReceiver, MailReceiver
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.outputs.messages.receivers import Got

pytestmark = pytest.mark.integration

MESSAGE = Outgoing("db <is> down & out [host1]", "Why: limit 64 MB\nLog: a < b & c", "0f" * 16, "failure")
LINES = [f"Line {number}: a < b & c > d, {'x' * 250}" for number in range(50)]
LONG = MESSAGE._replace(body="\n".join(LINES))
CANARY = "s3cr3t-canary"


def to(url: str) -> Receiver:
    return Receiver(name="phone", url=SecretStr(url))


def send_as_if(change: str, url: str, sent: Outgoing = MESSAGE) -> str:
    """Send in the same program, with a service's own host changed to this machine; returns the problem."""
    program = f"{change}; from bcon_exporter.outputs.messages import send_process; send_process.main()"
    message = json.dumps({"url": url, **sent._asdict()})
    done = subprocess.run([sys.executable, "-c", program], input=message, capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["problem"])


def only(got: list[Got]) -> Got:
    (one,) = got
    return one


def test_ntfy_gets_title_text_and_the_key_as_the_sequence_of_updates() -> None:
    with HttpReceiver() as server:
        assert deliver(to(f"ntfy://127.0.0.1:{server.port}/topic"), MESSAGE).arrived
    got = only(server.got)
    body = json.loads(got.text)
    assert (body["topic"], body["title"]) == ("topic", MESSAGE.title)
    assert body["message"] == MESSAGE.body
    assert got.headers["x-sequence-id"] == MESSAGE.key


def test_a_webhook_gets_json_and_the_key_in_a_header() -> None:
    with HttpReceiver() as server:
        assert deliver(to(f"json://127.0.0.1:{server.port}/hook"), MESSAGE).arrived
    got = only(server.got)
    body = json.loads(got.text)
    assert (got.path, body["title"], body["message"], body["type"]) == ("/hook", MESSAGE.title, MESSAGE.body, "failure")
    assert got.headers["x-message-id"] == MESSAGE.key


def test_a_mail_has_the_key_as_its_message_id() -> None:
    with MailReceiver() as server:
        url = f"mailto://127.0.0.1:{server.port}/?from=bcon@shop.example&to=ops@shop.example&mode=insecure&format=text"
        assert deliver(to(url), MESSAGE).arrived
    mail = message_from_string(only(server.got).text, policy=policy.default)
    assert mail["Subject"] == MESSAGE.title
    assert mail["Message-ID"].startswith(f"<{MESSAGE.key}@")
    assert len(mail.get_all("Message-ID", [])) == 1
    body = mail.get_body()
    assert body is not None
    assert "Why: limit 64 MB" in body.get_content()


def test_telegram_gets_a_text_in_which_nothing_is_taken_for_markup() -> None:
    with HttpReceiver(answer=b'{"ok": true, "result": {}}') as server:
        host = f"http://127.0.0.1:{server.port}/bot"
        change = f"from apprise.plugins.telegram import NotifyTelegram as T; T.notify_url = {host!r}"
        assert send_as_if(change, "tgram://123456789:abcdefg_hijklmnop/12315544/") == ""
    sent = [json.loads(one.text) for one in server.got if one.path.endswith("/sendMessage")]
    assert len(sent) == 1
    assert sent[0]["chat_id"] in (12315544, "12315544")
    assert "<is>" not in sent[0]["text"]
    assert "a &lt; b &amp; c" in sent[0]["text"]


def test_slack_gets_a_text_with_title_and_body() -> None:
    with HttpReceiver(answer=b"ok") as server:
        change = f"from apprise.plugins.slack import NotifySlack as S; S.webhook_url = 'http://127.0.0.1:{server.port}'"
        assert send_as_if(change, "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops") == ""
    got = only(server.got)
    assert "limit 64 MB" in got.text
    assert "[host1]" in got.text


def test_telegram_gets_a_message_that_is_too_long_for_it_in_pieces() -> None:
    with HttpReceiver(answer=b'{"ok": true, "result": {}}') as server:
        host = f"http://127.0.0.1:{server.port}/bot"
        change = f"from apprise.plugins.telegram import NotifyTelegram as T; T.notify_url = {host!r}"
        assert send_as_if(change, "tgram://123456789:abcdefg_hijklmnop/12315544/", LONG) == ""
    texts = [json.loads(one.text)["text"] for one in server.got if one.path.endswith("/sendMessage")]
    assert max(map(len, texts)) <= 4096
    assert all(any(f"Line {number}:" in text for text in texts) for number in range(len(LINES)))


def test_ntfy_gets_pieces_that_it_makes_no_attachment_of_each_under_a_key_of_its_own() -> None:
    with HttpReceiver() as server:
        assert deliver(to(f"ntfy://127.0.0.1:{server.port}/topic"), LONG).arrived
    bodies = [json.loads(got.text) for got in server.got]
    assert max(len(body["message"].encode()) for body in bodies) <= 4096
    assert "\n".join(body["message"] for body in bodies).split() == LONG.body.split()
    assert {body["title"] for body in bodies} == {f"{LONG.title} [{one}/4]" for one in (1, 2, 3, 4)}
    keys = [got.headers["x-sequence-id"] for got in server.got]
    assert keys == [LONG.key, *(f"{LONG.key}-{number}" for number in (2, 3, 4))]


def test_after_a_piece_that_is_refused_no_other_is_sent_and_that_refusal_is_told() -> None:
    with HttpReceiver(400) as server:
        assert deliver(to(f"ntfy://127.0.0.1:{server.port}/topic"), LONG).problem == "HTTP status 400"
    assert len(server.got) == 1


def test_a_service_of_short_messages_gets_one_that_is_cut() -> None:
    with HttpReceiver() as server:
        host = f"http://127.0.0.1:{server.port}/"
        change = f"from apprise.plugins.pushover import NotifyPushover as P; P.notify_url = {host!r}"
        assert send_as_if(change, f"pover://{'u' * 30}@{'a' * 30}", LONG) == ""
    (message,) = parse_qs(only(server.got).text)["message"]
    assert message.startswith("Line 0:")
    assert len(message) <= 1024


@pytest.mark.parametrize("status", [401, 500])
def test_a_refusal_is_told_by_its_status_and_never_by_address_or_answer(status: int) -> None:
    with HttpReceiver(status, answer=CANARY.encode()) as server:
        answer = deliver(to(f"json://user:{CANARY}@127.0.0.1:{server.port}/{CANARY}"), MESSAGE)
    assert answer.problem == f"HTTP status {status}"


@pytest.mark.parametrize(("status", "asked"), [(301, ""), (307, "?redirect=yes"), (302, "?redirect=yes")])
def test_no_redirect_is_followed(status: int, asked: str) -> None:
    with HttpReceiver() as elsewhere, HttpReceiver(status, to=f"http://127.0.0.1:{elsewhere.port}/x") as server:
        answer = deliver(to(f"json://127.0.0.1:{server.port}/{asked}"), MESSAGE)
    assert answer.problem == f"HTTP status {status}"
    assert elsewhere.got == []


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpReceiver() as proxy, HttpReceiver() as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert deliver(to(f"json://127.0.0.1:{server.port}/"), MESSAGE).arrived
    assert proxy.got == []


def test_a_receiver_that_hangs_is_given_up() -> None:
    with HttpReceiver() as server:
        server.hangs.set()
        assert deliver(to(f"json://127.0.0.1:{server.port}/?rto=60"), MESSAGE, 2.0).problem == "no answer within 2 s"


ENDLESS: dict[str, tuple[bytes, tuple[bytes, float], str]] = {
    "a body that never ends": (b"HTTP/1.1 200 OK\r\n\r\n", (b"x" * 65536, 0.0), ""),
    "an error that never ends": (b"HTTP/1.1 500 No\r\n\r\n", (b"x" * 65536, 0.0), "HTTP status 500"),
    "a body of which a byte comes now and then": (b"HTTP/1.1 200 OK\r\n\r\n", (b"x", 0.2), ""),
    "pieces that never end": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", (b"1\r\nx\r\n", 0.0), ""),
    "a head that never ends": (b"HTTP/1.1 200 OK\r\n", (b"X-A: b\r\n", 0.0), "it cannot be reached"),
    "a line that never ends": (b"HTTP/1.1 200 ", (b"x" * 65536, 0.0), "it cannot be reached"),
    "a body that unpacks to much": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(50_000_000)),
        (b"", 0.1),
        "",
    ),
}
"""What a receiver answers: its beginning, what comes over and over with its pause, and what is told then."""


@pytest.mark.promise("F23")
def test_of_an_answer_without_end_the_beginning_is_read_and_its_status_counts() -> None:
    def send(answer: bytes, endless: tuple[bytes, float]) -> tuple[str, int]:
        with HttpReceiver(answer=answer, endless=endless) as server:
            return deliver(to(f"json://127.0.0.1:{server.port}/?rto=20"), MESSAGE).problem, server.written

    with ThreadPoolExecutor(2) as pool:
        outcomes = {case: pool.submit(send, answer, endless) for case, (answer, endless, _) in ENDLESS.items()}
        problems = {case: outcome.result()[0] for case, outcome in outcomes.items()}
    assert problems == {case: problem for case, (_, _, problem) in ENDLESS.items()}
    read = {case: outcome.result()[1] for case, outcome in outcomes.items()}
    assert {case: count for case, count in read.items() if count > 16 * 1024 * 1024} == {}, "sockets hold some of it"


@pytest.mark.promise("F23")
def test_a_receiver_whose_answer_fills_the_memory_is_told_of() -> None:
    with MailReceiver(flood=b"220-" + b"x" * 8000 + b"\r\n", flood_bytes=400_000_000) as server:
        url = f"mailto://127.0.0.1:{server.port}/?from=a@b.example&to=c@b.example&mode=insecure"
        assert deliver(to(url), MESSAGE).problem == "what it answers takes too much memory"


def test_the_process_that_sends_loads_nothing_of_this_package() -> None:
    *options, program = delivery._PROGRAM
    look = f"import runpy, sys; runpy.run_path({program!r}); sys.exit('bcon_exporter' in sys.modules)"
    subprocess.run([*options, "-c", look], env=delivery._make_environment(), cwd="/", check=True)


def test_receivers_that_hang_hold_up_no_other() -> None:
    with HttpReceiver() as hanging, HttpReceiver() as server, ThreadPoolExecutor(3) as pool:
        hanging.hangs.set()
        url = f"json://127.0.0.1:{hanging.port}/?rto=60"
        others = [pool.submit(deliver, to(url), MESSAGE, 20.0) for _ in range(3)]
        wait_until(lambda: len(hanging.got) == len(others), "three that hang")
        assert deliver(to(f"json://127.0.0.1:{server.port}/"), MESSAGE).arrived
        assert not any(other.done() for other in others)
        hanging.released.set()


def test_what_is_not_there_is_told_in_a_word() -> None:
    assert deliver(to(f"json://user:{CANARY}@127.0.0.1:1/"), MESSAGE).problem == "it cannot be reached"
    mail = to(f"mailto://127.0.0.1:1/?from=a@b.example&to={CANARY}@b.example&mode=insecure")
    assert deliver(mail, MESSAGE).problem == "it was not taken"


@pytest.mark.parametrize("url", [f"nope://{CANARY}", f"json://{CANARY}:x:y/", f"file:///{CANARY}"])
def test_an_address_that_apprise_does_not_take_is_told_without_it(url: str) -> None:
    assert check_address(to(url)).startswith("apprise does not take")


MAIL = "mailto://127.0.0.1:1/?from=a@b.example&mode=insecure"
TELEGRAM = "tgram://123456789:abcdefg_hijklmnop"


@pytest.mark.parametrize(
    "url", [f"{TELEGRAM}/12315544/12315545", f"{MAIL}&to=a@b.example,c@b.example", "ntfy://127.0.0.1:1/a/b?retry=1"]
)
def test_an_address_with_several_targets_is_told_and_gets_nothing(url: str) -> None:
    assert check_address(to(url)) == MANY_TARGETS
    assert deliver(to(url), MESSAGE).problem == MANY_TARGETS


@pytest.mark.parametrize(
    "url", [f"{TELEGRAM}/12315544", f"{MAIL}&to=a@b.example&retry=2", "json://127.0.0.1:1/?retry=1"]
)
def test_an_address_with_one_target_can_be_used_also_while_nothing_answers_there(url: str) -> None:
    assert check_address(to(url)) == ""


def test_no_plug_in_and_no_configuration_is_loaded() -> None:
    with HttpReceiver(answer=b"json://127.0.0.1:1/") as server:
        for schema in ("http", "include"):
            assert check_address(to(f"{schema}://127.0.0.1:{server.port}/config")) != ""
    assert server.got == []
