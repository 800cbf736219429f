"""Tells names from text that somebody put where a name belongs: a label can say anything."""

import string

_NAME_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_.-/:@+*")
_LONGEST_HARMLESS = 7


def is_odd_name(name: str) -> bool:
    """Whether no container, service, project or image can be called so."""
    return len(name) > _LONGEST_HARMLESS and not _NAME_CHARACTERS.issuperset(name)
