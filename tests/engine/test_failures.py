"""Each foreign failure becomes one of ours, with a hint that fits it."""

import errno
import socket
import ssl

import docker.errors
import pytest
import requests
import urllib3

from bcon_exporter.engine.failures import UnreadableLogError, VersionRefusedError, status_error, translate
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.errors import (
    BconError,
    ContainerNotFoundError,
    DeadlineExceededError,
    DockerConnectionError,
    InternalError,
    InvalidInputError,
    PermissionDeniedError,
)
from tests.table_rows import table

ENDPOINT = Endpoint("unix:///x.sock", source="DOCKER_HOST")


def wrapped(inner: Exception) -> Exception:
    """An error as requests hands it up: wrapped twice, the inner one in the arguments."""
    return requests.exceptions.ConnectionError(urllib3.exceptions.ProtocolError("Connection aborted.", inner))


@table("wrap", [lambda error: error, wrapped])
@table(
    ("error", "kind", "hint"),
    [
        (FileNotFoundError(errno.ENOENT, "x"), DockerConnectionError, "absent"),
        (PermissionError(errno.EACCES, "x"), PermissionDeniedError, "forbidden"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), DockerConnectionError, "refused"),
        (ConnectionResetError(errno.ECONNRESET, "x"), DockerConnectionError, "closed"),
        (TimeoutError("timed out"), DeadlineExceededError, "hung"),
        (BlockingIOError(errno.EAGAIN, "x"), DeadlineExceededError, "hung"),
        (socket.gaierror(-2, "x"), DockerConnectionError, "unresolved"),
        (ssl.SSLError(1, "x"), DockerConnectionError, "tls"),
        (ssl.SSLCertVerificationError(1, "x"), DockerConnectionError, "tls"),
        (OSError(errno.EMFILE, "x"), DockerConnectionError, "descriptors"),
        (OSError(errno.EHOSTUNREACH, "x"), DockerConnectionError, "unreachable"),
    ],
)
def test_a_socket_failure_has_its_hint(error: Exception, kind: type[BconError], hint: str, wrap: object) -> None:
    ours = translate(wrap(error), ENDPOINT, "listing containers")  # type: ignore[operator]  # one of two functions
    assert type(ours) is kind
    assert ours.details["hint"] == hint
    assert "unix:///x.sock" in ours.message or hint == "descriptors"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (requests.exceptions.ReadTimeout("x"), DeadlineExceededError),
        (requests.exceptions.TooManyRedirects("x"), DockerConnectionError),
        (requests.exceptions.JSONDecodeError("x", "", 0), DockerConnectionError),
        (RecursionError("x"), DockerConnectionError),
        (docker.errors.DockerException("x"), DockerConnectionError),
        (KeyError("x"), InternalError),
    ],
)
def test_other_failures_are_translated_too(error: Exception, kind: type[BconError]) -> None:
    assert type(translate(error, ENDPOINT, "listing containers")) is kind


@table(
    ("status", "body", "kind"),
    [
        (404, b'{"message":"No such container: x"}', ContainerNotFoundError),
        (403, b"<html>Forbidden</html>", PermissionDeniedError),
        (401, b"", PermissionDeniedError),
        (302, b"", DockerConnectionError),
        (400, b'{"message":"client version 1.99 is too new. Maximum is 1.41"}', VersionRefusedError),
        (400, b'{"message":"bad parameter"}', DockerConnectionError),
        (409, b'{"message":"can not get logs from container which is dead"}', InvalidInputError),
        (501, b'{"message":"configured logging driver does not support reading"}', UnreadableLogError),
        (500, b'{"message":"configured logging driver does not support reading"}', UnreadableLogError),
        (501, b'{"message":"not implemented"}', DockerConnectionError),
        (500, b"[" * 70_000, DockerConnectionError),
        (503, b"\xff\xfe", DockerConnectionError),
        (504, b"", DeadlineExceededError),
    ],
)  # fmt: skip
def test_a_status_has_its_error(status: int, body: bytes, kind: type[BconError]) -> None:
    error = status_error(status, body, ENDPOINT, "reading logs")
    assert type(error) is kind
    assert error.details["status" if kind is not DockerConnectionError or status != 302 else "hint"]
    assert len(error.message) < 500


def test_what_an_engine_says_is_cleaned_and_masked() -> None:
    body = b'{"message":"\\u001b[31mpull https://me:hunter2secret@registry/x\\u202e"}'
    message = status_error(500, body, ENDPOINT, "reading logs").message
    assert message.isprintable()
    assert "hunter2secret" not in message
