"""The base class of every fact, finding and report."""

from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, WithJsonSchema


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields and never quotes its input in an error.

    All values of a class share one set of "given" fields: nobody asks which were, and each value's own set would weigh
    more than its fields, 2 KB a container.
    """

    # A class is built when it is first used: most commands use few of the hundred.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

    def model_post_init(self, _context: Any, /) -> None:
        """Give back the set that pydantic has made."""
        object.__setattr__(self, "__pydantic_fields_set__", _names_of(type(self)))

    def __copy__(self) -> Self:
        """Return a value with the same fields; `model_copy` puts others in their place."""
        cls = type(self)
        copied = cls.__new__(cls)
        object.__setattr__(copied, "__dict__", self.__dict__.copy())
        object.__setattr__(copied, "__pydantic_fields_set__", _names_of(cls))
        object.__setattr__(copied, "__pydantic_extra__", None)
        object.__setattr__(copied, "__pydantic_private__", None)
        return copied


@cache
def _names_of(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


def _to_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        msg = "must carry a time zone, for example 2026-01-31T12:00:00Z"
        raise ValueError(msg)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        msg = "must lie between the years 1 and 9999 in UTC"
        raise ValueError(msg) from None


UtcDatetime = Annotated[datetime, AfterValidator(_to_utc)]
"""An aware datetime, normalised to UTC; a naive one is refused, and one that has no date there."""


class UntrustedText:
    """Marks a field's type: what stands there was written by a container or a person, not by us."""


UNTRUSTED = UntrustedText()
Untrusted = Annotated[str, UNTRUSTED, WithJsonSchema({"type": "string", "x-untrusted": True})]
"""Text that somebody else chose: log lines, what a probe printed, labels, notes. Masked and bounded, and never an
instruction. Agents get it in a field of its own, whatever report it comes in."""
