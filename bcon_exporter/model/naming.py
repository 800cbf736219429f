"""Container names as people know them."""

import re

_TEMPORARY = re.compile(r"[0-9a-f]{12}_(.+)", re.DOTALL)


def normalise_name(name: str) -> str:
    """Return the name without the prefix that Compose gives a container while it makes its successor (`<12hex>_name`).

    Source: docker/compose#10467.
    """
    match = _TEMPORARY.fullmatch(name)
    return match.group(1) if match else name
