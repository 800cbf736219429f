"""HTTP answers come out whole however their bytes are cut, and no bytes whatever do more than raise our one error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.http_parser import Answer, AnswerReader, MalformedAnswerError
from tests.table_rows import table

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nApi-Version: 1.41\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
TRAILED = b"HTTP/1.1 200 OK\r\ntransfer-encoding:chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"


def read(data: bytes, *, step: int | None = None, cap: int = 1 << 20) -> list[Answer]:
    """Feed bytes in pieces of `step` and return the answers."""
    reader, answers = AnswerReader(cap), []
    size = step or max(len(data), 1)
    for start in range(0, len(data), size):
        reader.feed(data[start : start + size])
        while (answer := reader.take()) is not None:
            answers.append(answer)
            if not reader.reusable:
                return answers
            reader.feed(b"")
    return answers


@pytest.mark.parametrize("step", [1, 2, 7, None])
def test_pipelined_answers_come_out_one_by_one(step: int | None) -> None:
    answers = read(PLAIN + CHUNKED + EMPTY + TRAILED + PLAIN, step=step)
    assert [answer.body for answer in answers] == [b"hello", b"hello", b"", b"hello", b"hello"]
    assert [answer.status for answer in answers] == [200, 200, 204, 200, 200]
    assert answers[0].header("api-version") == "1.41"
    assert answers[0].header("missing") is None


def test_an_interim_answer_is_skipped() -> None:
    assert [answer.status for answer in read(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + PLAIN)] == [200]


def test_a_body_without_length_ends_with_the_connection() -> None:
    reader = AnswerReader(100)
    reader.feed(b"HTTP/1.0 200 OK\r\n\r\nhel")
    assert reader.take() is None
    reader.feed(b"lo")
    reader.feed_end()
    answer = reader.take()
    assert answer is not None
    assert answer.body == b"hello"
    assert not reader.reusable


@pytest.mark.parametrize("begin", [PLAIN[:-1], CHUNKED[:-2], b"HTTP/1.1 200 OK\r\nCont", b""])
def test_an_end_within_an_answer_is_an_error(begin: bytes) -> None:
    reader = AnswerReader(100)
    reader.feed(begin)
    with pytest.raises(MalformedAnswerError):
        reader.feed_end()


@table("data", [PLAIN, CHUNKED, TRAILED, b"HTTP/1.1 200 OK\r\n\r\nhello"])
@table("step", [1, None])
def test_a_longer_body_than_allowed_is_cut_and_its_connection_not_used_again(data: bytes, step: int | None) -> None:
    answers = read(data, cap=4, step=step)
    assert len(answers) == 1
    assert answers[0].cut
    assert len(answers[0].body) <= 4


def test_a_body_of_just_the_allowed_length_is_whole() -> None:
    assert not read(PLAIN, cap=5)[0].cut


def test_a_connection_to_be_closed_is_not_reusable() -> None:
    reader = AnswerReader(100)
    reader.feed(PLAIN.replace(b"Api-Version: 1.41", b"Connection: Close"))
    assert reader.take() is not None
    assert not reader.reusable


@table(
    "garbage",
    [
        b"<html>",
        b"\x15\x03\x01\x00\x02\x02\x16 TLS speaks here first",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 999 X\r\n\r\n",
        b"HTTP/1.1 20x X\r\n\r\n",
        b"HTTP/1.1 2000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000,
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000,
    ],
)
def test_garbage_is_malformed(garbage: bytes) -> None:
    with pytest.raises(MalformedAnswerError):
        read(garbage)


PIECES = st.sampled_from(
    [PLAIN, CHUNKED, TRAILED, EMPTY, b"HTTP/1.1 ", b"200", b"\r\n", b"\r\n\r\n", b"0\r\n", b"5\r\n", b"x"]
)


@given(st.lists(PIECES | st.binary(max_size=30), max_size=12), st.integers(1, 50), st.integers(0, 40))
def test_no_bytes_raise_anything_else(pieces: list[bytes], step: int, cap: int) -> None:
    try:
        answers = read(b"".join(pieces), step=step, cap=cap)
    except MalformedAnswerError:
        return
    assert all(len(answer.body) <= cap for answer in answers)
