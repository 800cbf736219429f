"""What docker-py and requests raise, told apart; apart from the client, which needs the rest of this package."""

from typing import Literal

import docker.errors
import requests.exceptions

Kind = Literal["status", "timeout", "redirect", "other"]

FOREIGN_ERRORS: tuple[type[Exception], ...] = (
    *(OSError, ValueError),
    *(docker.errors.DockerException, requests.exceptions.RequestException),
)
"""What a call of docker-py may raise."""


def find_kind(error: BaseException) -> Kind | None:
    """Return what kind of failure an exception of these libraries is; None for any other exception."""
    match error:
        case docker.errors.APIError() if error.response is not None:
            return "status"
        case requests.exceptions.Timeout():
            return "timeout"
        case requests.exceptions.TooManyRedirects():
            return "redirect"
        case docker.errors.DockerException() | requests.exceptions.RequestException():
            return "other"
        case _:
            return None


def read_status(error: BaseException) -> tuple[int, bytes]:
    """Return the HTTP status and body that an exception of kind "status" carries."""
    if not isinstance(error, docker.errors.APIError) or error.response is None:
        raise TypeError(type(error).__name__)
    return error.response.status_code, error.response.content
