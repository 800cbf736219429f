"""Writes conditions as PromQL, one operand a line."""

from bcon_exporter.alerting.expressions import (
    Age,
    Always,
    AnyOnHost,
    Both,
    Compared,
    Either,
    Expr,
    Increase,
    Names,
    OnlyPrometheus,
    Scaled,
    Series,
    Without,
)

_STEP = "  "


def render_promql(expr: Expr) -> str:  # noqa: C901, PLR0911, PLR0912 -- a branch for each kind
    """Return a condition as PromQL; of several lines where it joins several operands."""
    match expr:
        case Series():
            return _series(expr)
        case Compared(left, sign, right):
            limit = f"{right:g}" if isinstance(right, float | int) else render_promql(right)
            return f"{render_promql(left)} {sign} {limit}"
        case Age(of):
            return f"time() - {render_promql(of)}"
        case Scaled(factor, of):
            return f"{factor:g} * {render_promql(of)}"
        case Increase(counter, minutes):
            return f"round(increase({_series(counter)}[{minutes}m]))"
        case Both(left, right, on):
            return _join(left, "and", on, right)
        case Without(left, right, on):
            return _join(left, "unless", on, right)
        case Either(parts):
            return "\nor\n".join(_bracketed(part) for part in parts)
        case AnyOnHost(of):
            return f"group by (job, instance) (\n{_indent(render_promql(of))}\n)"
        case Always():
            return "vector(1)"
        case OnlyPrometheus(promql):
            return promql


def _series(one: Series) -> str:
    matchers = ", ".join(
        f'{label}="{values[0]}"' if len(values) == 1 else f'{label}=~"{"|".join(values)}"'
        for label, values in one.where
    )
    return f"{one.name}{{{matchers}}}" if matchers else one.name


def _join(left: Expr, word: str, on: Names | None, right: Expr) -> str:
    """Write `and` and `unless` below their left side: both bind alike, from the left."""
    first = render_promql(left) if isinstance(left, Both | Without) else _bracketed(left)
    labels = "" if on is None else f" on ({', '.join(('job', 'instance', *on))})"
    return f"{first}\n{_STEP}{word}{labels} {_indent(_bracketed(right)).lstrip()}"


def _bracketed(expr: Expr) -> str:
    text = render_promql(expr)
    joins = isinstance(expr, Both | Without | Either) or (isinstance(expr, OnlyPrometheus) and "\n" in text)
    return f"(\n{_indent(text)}\n)" if joins else text


def _indent(text: str) -> str:
    return "\n".join(_STEP + line for line in text.split("\n"))
