"""What a tool call cost: tokens as an agent would read it, engine calls, seconds."""

from collections import deque
from collections.abc import Iterable
from datetime import datetime

from bcon_exporter.model.reports import CostEntry, CostReport, OperationCost, TokenUsage

BYTES_PER_TOKEN = 4
"""English JSON is 3.5 to 4.5 bytes a token with today's tokenizers; an estimate, and said to be one."""

NO_MODEL_NOTE = (
    "The money is 0 because no paid model was called: bcon-exporter diagnoses with rules on this machine. "
    "Tokens are an estimate (one per 4 bytes of JSON) of what an agent reads and writes to use the answer."
)


def estimate_tokens(size_bytes: int) -> int:
    """Return the estimated tokens of so many bytes of JSON, rounded up."""
    return -(-size_bytes // BYTES_PER_TOKEN)


def measure_usage(input_bytes: int, output_bytes: int) -> TokenUsage:
    """Return the token usage of one call."""
    tokens_in, tokens_out = estimate_tokens(input_bytes), estimate_tokens(output_bytes)
    return TokenUsage(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out)


def sum_costs(entries: Iterable[CostEntry], start: datetime, end: datetime, newest: int = 100) -> CostReport:
    """Return the report of a period; it lists the newest entries, keeps no others, and sums all."""
    by_operation: dict[str, OperationCost] = {}
    last: deque[CostEntry] = deque(maxlen=newest)
    count = cached = 0
    dollars = 0.0
    for entry in entries:
        by_operation[entry.operation] = _add(by_operation.get(entry.operation), entry)
        last.append(entry)
        count, cached, dollars = count + 1, cached + entry.cached, dollars + entry.usage.estimated_cost_usd
    return CostReport(
        period_start=start,
        period_end=end,
        total_cost_usd=dollars,
        total_operations=count,
        by_operation=dict(sorted(by_operation.items())),
        entries=tuple(last),
        cache_hit_rate=cached / count if count else 0.0,
        estimated_savings_usd=0.0,
        note=NO_MODEL_NOTE,
    )


def _add(so_far: OperationCost | None, entry: CostEntry) -> OperationCost:
    base = so_far or OperationCost(operations=0, input_tokens=0, output_tokens=0, docker_calls=0, seconds=0.0)
    return OperationCost(
        operations=base.operations + 1,
        input_tokens=base.input_tokens + entry.usage.input_tokens,
        output_tokens=base.output_tokens + entry.usage.output_tokens,
        docker_calls=base.docker_calls + entry.docker_calls,
        seconds=round(base.seconds + entry.seconds, 6),
        cost_usd=base.cost_usd + entry.usage.estimated_cost_usd,
    )
