"""Which version an image is: by its own label, else by its tag. Pure.

A label is a claim. Images inherit the labels of what they are built from, so that of ubuntu would stand for every
program built on it: a version that contradicts the tag, or that is of an image with another name, is not believed. And
what is believed is a version by its form, so that a label cannot put words into our sentences.
"""

from collections.abc import Mapping
from functools import lru_cache

VERSION_LABEL = "org.opencontainers.image.version"
NAME_LABEL = "org.opencontainers.image.ref.name"
_REMEMBERED = 4096
"""Asked for each container at each scan."""
_ID_DIGITS = 12
_MOST_CHARS = 40
_MOST_WORDS = 3
_LONGEST_WORD = 12
_MARKS = ".-_+"


def find_image_version(reference: str, labels: Mapping[str, str]) -> str | None:
    """Return the version of an image by what it is called and by its labels; None where neither tells.

    Args:
        reference: As the container was made with it, such as postgres:16-alpine.
        labels: Of the image, or of a container of it.
    """
    return _find_version(reference, labels.get(VERSION_LABEL, ""), labels.get(NAME_LABEL, ""))


@lru_cache(maxsize=_REMEMBERED)
def _find_version(reference: str, label: str, named: str) -> str | None:
    repository, tag = _split(reference)
    by_tag, by_label = _parse(tag), _parse(label)
    if by_label is None or _is_inherited(repository, named):
        return by_tag
    return by_label if by_tag is None or _agree(by_label, by_tag) else by_tag


def name_image(reference: str, version: str | None, image_id: str | None = None) -> str:
    """Return "postgres:16 (16.4, 0f343b093112)"; what is not known, or stands in the tag already, is left out."""
    is_news = version is not None and version not in _split(reference)[1]
    more = [version if is_news else None, short_image_id(image_id) if image_id is not None else None]
    told = ", ".join(part for part in more if part is not None)
    return f"{reference} ({told})" if told else reference


def short_image_id(image_id: str) -> str:
    """Return the 12 digits that `docker images` shows."""
    return image_id.removeprefix("sha256:")[:_ID_DIGITS]


def _split(reference: str) -> tuple[str, str]:
    """Return the last part of the repository, and the tag; "" without one, as of a digest."""
    name, _, digest = reference.partition("@")
    last = name.rpartition("/")[2]
    repository, _, tag = last.partition(":")
    return repository, "" if digest else tag


def _parse(text: str) -> str | None:
    """Return the text if it has the form of a version: "16.4", "v2.1.0-rc.1", "2024.10.1-alpine3.20"."""
    version = text.removeprefix("v")
    if not version or len(version) > _MOST_CHARS or not version[0].isdigit():
        return None
    if not all(sign.isascii() and (sign.isalnum() or sign in _MARKS) for sign in version):
        return None
    words = "".join(sign if sign.isalpha() else " " for sign in version).split()
    return version if len(words) <= _MOST_WORDS and all(len(word) <= _LONGEST_WORD for word in words) else None


def _is_inherited(repository: str, named: str) -> bool:
    return bool(named) and _split(named)[0].lower() not in repository.lower()


def _agree(version: str, other: str) -> bool:
    """Whether one says no more than the other: 16 and 16.4, 16-alpine and 16.4."""
    one, two = _numbers(version), _numbers(other)
    shorter = min(len(one), len(two))
    return one[:shorter] == two[:shorter]


def _numbers(version: str) -> list[str]:
    """Return the leading numbers: ["16", "4"] of 16.4-alpine."""
    numbers = []
    for part in version.replace("_", "-").partition("-")[0].partition("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(part)
    return numbers
