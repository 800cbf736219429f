"""Which version of the Engine API is spoken."""

OLDEST_API = (1, 24)
NEWEST_API = (1, 52)
"""The newest API version that is spoken; a newer engine is asked in this one, unless it needs more.

From 1.53 on `GET /system/df` tells sizes only, without what they are made of, unless it is asked for more.
"""


def format_version(version: tuple[int, int]) -> str:
    """Write an API version as the engine does, "1.41"."""
    return f"{version[0]}.{version[1]}"


def parse_version(text: object) -> tuple[int, int] | None:
    """Read an API version; None when it is none."""
    if not isinstance(text, str):
        return None
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and minor.isdecimal() and len(text) <= len("1.999")):
        return None
    return int(major), int(minor)


def choose_version(engine: object, engine_minimum: object) -> tuple[int, int] | None:
    """Choose the API version to speak with an engine that says which it knows.

    Args:
        engine: Its newest version, as in /version's ApiVersion.
        engine_minimum: The oldest it accepts, MinAPIVersion; old engines and Podman may not say.

    Returns:
        The newest that both know, or the engine's oldest where that is newer than all we know; None when the engine's
        newest is older than OLDEST_API or unreadable.
    """
    newest = parse_version(engine)
    if newest is None or newest < OLDEST_API:
        return None
    return max(min(newest, NEWEST_API), parse_version(engine_minimum) or OLDEST_API)
