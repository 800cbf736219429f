"""Every error that a person or a program may see, in one tree.

BconError                            code, message (what happened and what to do), details (facts)
├── DockerConnectionError            docker_connection_failed
├── ContainerNotFoundError           container_not_found
├── ComposeFileNotFoundError         compose_file_not_found
├── ComposeParseError                compose_parse_error
├── PermissionDeniedError            permission_denied
├── InvalidInputError                invalid_input
├── DeadlineExceededError            timeout
├── RateLimitedError                 rate_limited
├── NotFoundError                    not_found
├── NotAvailableError                not_available
├── StateFileError                   internal_error, what is stored cannot be read now
├── InternalError                    internal_error
└── SettingsError                    invalid_input, raised before anything runs

Foreign exceptions (docker, requests, sqlite3, subprocess) are translated once, at the edge that meets them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar


class ErrorCode(StrEnum):
    """Stable names of errors (docs/api.md). They are metric label values: never rename one."""

    DOCKER_CONNECTION_FAILED = "docker_connection_failed"
    CONTAINER_NOT_FOUND = "container_not_found"
    COMPOSE_FILE_NOT_FOUND = "compose_file_not_found"
    COMPOSE_PARSE_ERROR = "compose_parse_error"
    PERMISSION_DENIED = "permission_denied"
    INTERNAL_ERROR = "internal_error"
    INVALID_INPUT = "invalid_input"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    NOT_FOUND = "not_found"
    NOT_AVAILABLE = "not_available"


class BconError(Exception):
    """Base of all our errors.

    Args:
        message: What happened and what to do about it, for people; no secret, no file content.
        details: The facts for machines: the id asked for, the file, the line, near matches.
    """

    code: ClassVar[ErrorCode] = ErrorCode.INTERNAL_ERROR

    def __init__(self, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = dict(details or {})


class DockerConnectionError(BconError):
    """The engine cannot be reached, or does not answer as an engine does."""

    code = ErrorCode.DOCKER_CONNECTION_FAILED


class ContainerNotFoundError(BconError):
    """No container has this id, id prefix or name; `details["near_matches"]` lists similar names."""

    code = ErrorCode.CONTAINER_NOT_FOUND


class ComposeFileNotFoundError(BconError):
    """The Compose file does not exist or may not be read here."""

    code = ErrorCode.COMPOSE_FILE_NOT_FOUND


class ComposeParseError(BconError):
    """Compose refused the file; `details` has `file` and, where known, `line`."""

    code = ErrorCode.COMPOSE_PARSE_ERROR


class PermissionDeniedError(BconError):
    """The socket, a file or an endpoint is forbidden to this user."""

    code = ErrorCode.PERMISSION_DENIED


class InvalidInputError(BconError):
    """The request does not fit the tool's input; `details["errors"]` names each field."""

    code = ErrorCode.INVALID_INPUT


class DeadlineExceededError(BconError):
    """The engine or the Compose binary did not answer in time."""

    code = ErrorCode.TIMEOUT


class RateLimitedError(BconError):
    """Too many on-demand runs at once."""

    code = ErrorCode.RATE_LIMITED


class NotFoundError(BconError):
    """There is no such incident or note; `details["near_matches"]` lists similar ids."""

    code = ErrorCode.NOT_FOUND


class NotAvailableError(BconError):
    """What is asked for cannot be had here at all: nobody failed. `details["would_help"]` says what would help."""

    code = ErrorCode.NOT_AVAILABLE


class StateFileError(BconError):
    """What is stored cannot be read now: that is no answer, and least of all that nothing is stored."""

    code = ErrorCode.INTERNAL_ERROR


class InternalError(BconError):
    """A defect of ours."""

    code = ErrorCode.INTERNAL_ERROR


class SettingsError(BconError):
    """A setting is unknown, malformed or contradictory; one line that names it."""

    code = ErrorCode.INVALID_INPUT
