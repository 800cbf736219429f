"""The keys by which list_containers filters; apart, so that the command line can name them without pydantic."""

from typing import Literal, get_args

FilterKey = Literal[
    "ancestor",
    "before",
    "exited",
    "health",
    "id",
    "label",
    "name",
    "network",
    "project",
    "publish",
    "service",
    "since",
    "status",
    "volume",
]
FILTER_KEYS: tuple[str, ...] = get_args(FilterKey)
