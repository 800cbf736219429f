"""The base class of every fact, finding and report."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields and never quotes its input in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _to_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        msg = "must carry a time zone, for example 2026-01-31T12:00:00Z"
        raise ValueError(msg)
    return value.astimezone(UTC)


UtcDatetime = Annotated[datetime, AfterValidator(_to_utc)]
"""An aware datetime, normalised to UTC; a naive one is refused."""
