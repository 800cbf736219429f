"""Conditions over metrics as values: the one source of the PromQL in the rule file and of what the push evaluates.

They know just what the alerts need. Labels named here never include `job` and `instance`: PromQL gets them added,
since one Prometheus sees many hosts; the push sees its own host only.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Sign = Literal["==", ">", "<"]
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The samples of one metric.

    Attributes:
        where: Label → the values that it may have; plain words, since several become a regular expression.
    """

    name: str
    where: tuple[tuple[str, Names], ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """The samples of `left` for which the comparison holds; vectors are matched by all labels."""

    left: "Expr"
    sign: Sign
    right: "Expr | float"


@dataclass(frozen=True, slots=True)
class Age:
    """Seconds since the timestamps that the samples are."""

    of: "Expr"


@dataclass(frozen=True, slots=True)
class Scaled:
    """The samples times a factor."""

    factor: float
    of: "Expr"


@dataclass(frozen=True, slots=True)
class Increase:
    """How much a counter grew within the window, across its resets; whole numbers."""

    counter: Series
    minutes: int


@dataclass(frozen=True, slots=True)
class Both:
    """The samples of `left` that have a partner in `right`.

    Attributes:
        on: Labels that partners share beside the host; None for all labels.
    """

    left: "Expr"
    right: "Expr"
    on: Names | None = ()


@dataclass(frozen=True, slots=True)
class Without:
    """The samples of `left` that have no partner in `right`; see `Both`."""

    left: "Expr"
    right: "Expr"
    on: Names | None = ()


@dataclass(frozen=True, slots=True)
class Either:
    """The samples of all parts; of those with the same labels the first."""

    parts: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class AnyOnHost:
    """1 for the host if there is any sample."""

    of: "Expr"


@dataclass(frozen=True, slots=True)
class Always:
    """1, whatever happens."""


@dataclass(frozen=True, slots=True)
class OnlyPrometheus:
    """What only a Prometheus can tell, as PromQL; the push never sees it: whoever pushes is up."""

    promql: str


Expr: TypeAlias = (
    Series | Compared | Age | Scaled | Increase | Both | Without | Either | AnyOnHost | Always | OnlyPrometheus
)

CONTAINER: Names = ("container", "project", "service")
SERVICE: Names = ("project", "service")
HOST: Names = ()


def series(name: str, **where: str | Names) -> Series:
    """Return the samples of a metric with these label values."""
    return Series(name, tuple((label, (value,) if isinstance(value, str) else value) for label, value in where.items()))


def is_value(of: Expr, value: float) -> Compared:
    """Return the samples that have this value."""
    return Compared(of, "==", value)


def above(of: Expr, limit: Expr | float) -> Compared:
    """Return the samples above a limit."""
    return Compared(of, ">", limit)
