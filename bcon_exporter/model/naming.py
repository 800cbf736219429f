"""Container names as people know them."""

_HEX_DIGITS = "0123456789abcdef"
_PREFIX_CHARS = 12


def normalise_name(name: str) -> str:
    """Return the name without the prefix that Compose gives a container while it makes its successor (`<12hex>_name`).

    Source: docker/compose#10467.
    """
    prefix, name_behind = name[:_PREFIX_CHARS], name[_PREFIX_CHARS + 1 :]
    temporary = name[_PREFIX_CHARS : _PREFIX_CHARS + 1] == "_" and not prefix.strip(_HEX_DIGITS) and name_behind
    return name_behind if temporary else name
