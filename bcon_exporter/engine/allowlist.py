"""The one gate that every request passes before it leaves the process: reading only, exact paths only.

The engine decodes `victim%2fexport` and `%65xport` and answers them with 200, so the raw, undecoded path is judged and
an encoded one never passes. What is not named here cannot be asked: no archive, export, attach, top, exec.
"""

import re  # noqa: TID251 - sees request targets of ours, and at most 1024 characters of a reference

ALLOWED_METHODS = frozenset({"GET", "HEAD"})
MAX_TARGET_CHARS = 8192
"""Longest request target; the longest of ours, an events filter, has about 400."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_IMAGE = rf"{_NAME}(?::[0-9]{{1,5}}(?=/))?(?:/{_NAME})*(?::{_TAG})?(?:(?:@|%40)sha256:[0-9a-f]{{64}})?"
ALLOWED_PATHS = (
    "/_ping",
    "/version",
    "/info",
    "/events",
    "/system/df",
    "/containers/json",
    "/containers/{container}/json",
    "/containers/{container}/stats",
    "/containers/{container}/logs",
    "/images/{image}/json",
    "/networks",
    "/networks/{network}",
    "/volumes",
    "/volumes/{volume}",
)
"""All that is ever asked, each also under a version, as docs/configuration.md lists it for a proxy."""
_SHAPES = {"{container}": _NAME, "{image}": _IMAGE, "{network}": _NAME, "{volume}": _NAME}
_PATH = re.compile(
    r"(?:/v1\.[0-9]{1,2})?(?:"
    + "|".join(re.sub(r"\{\w+\}", lambda found: _SHAPES[found[0]], path) for path in ALLOWED_PATHS)
    + ")"
)
_QUERY = re.compile(r"[A-Za-z0-9_.,:=&~+%-]*")
_ID = re.compile(_NAME)
_LONGEST_REFERENCE = 1024


class RequestRefusedError(RuntimeError):
    """A request that could change or leak something was about to leave: a defect of ours, or an attack.

    Not a BconError: no caller may treat it as an ordinary failure of the engine.
    """


def check_request(method: str | None, target: str) -> None:
    """Let a request pass, or refuse it.

    Args:
        method: HTTP method as it would be sent.
        target: Request target as it would be sent: the raw path with its query, undecoded.

    Raises:
        RequestRefusedError: The method writes, or the path is not on the list.
    """
    if method not in ALLOWED_METHODS:
        msg = f"refused to send {method!r}: only GET and HEAD ever leave this process"
        raise RequestRefusedError(msg)
    path, _, query = target.partition("?")
    if len(target) > MAX_TARGET_CHARS or ".." in path or not _PATH.fullmatch(path) or not _QUERY.fullmatch(query):
        msg = f"refused to send {method} {target[:200]!r}: the path is not on the list of allowed reads"
        raise RequestRefusedError(msg)


def is_valid_reference(container: str) -> bool:
    """Return whether text may stand in a path as a container's id, id prefix or name.

    The engine takes it unescaped: `../images/x` as an id would read an image.
    """
    return len(container) <= _LONGEST_REFERENCE and _ID.fullmatch(container) is not None and ".." not in container


def is_valid_image(image: str) -> bool:
    """Return whether text is an image id or reference that may stand in a path."""
    return len(image) <= _LONGEST_REFERENCE and re.fullmatch(_IMAGE, image) is not None and ".." not in image
