"""log_unbounded: nothing bounds its log file, which is large already or fills the disk soon."""

from bcon_exporter.catalogue.causes import known_cause, known_step
from bcon_exporter.diagnosis.rule import Advice, Case, Hysteresis, SymptomRule, Verdict, unknown
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.quantities import show_duration, show_size

UNBOUNDED = SymptomType.LOG_UNBOUNDED
LOOKED_AHEAD_SECONDS = 86_400
FORESIGHT = 24
"""A rate known for an hour tells of the next day, one known for five minutes of the next two hours."""
_SHARE = 0.1
"""Of the growth of all such logs, below which a log is not to blame."""
_HOUR_SECONDS = 3600


def _judge(case: Case) -> Verdict:
    container = case.container
    if container.log_is_bounded is None and "log_driver" in container.unread:
        return unknown(case, UNBOUNDED, ("log_driver",))
    if container.log_is_bounded is not False:
        return None
    if container.log_bytes is None:
        return unknown(case, UNBOUNDED, ("log_bytes",))
    seconds = _seconds_until_full(case)
    size = show_size(container.log_bytes)
    if seconds is not None:
        description = f"Nothing bounds its log, which fills the disk in {show_duration(seconds)} at this rate."
        return case.symptom(UNBOUNDED, Severity.WARNING, description, *_evidence(case, size))
    if container.log_bytes < case.thresholds.log_file_bytes:
        return None
    return case.symptom(UNBOUNDED, Severity.INFO, f"Nothing bounds its log of {size}.", *_evidence(case, size))


def _evidence(case: Case, size: str) -> tuple[str, ...]:
    growth, free = case.container.log_growth, _free_bytes(case)
    said = [f"log file: {size}, driver {case.container.log_driver}, no max-size"]
    if growth is not None:
        rate = f"{show_size(max(0.0, growth.bytes_per_hour))} an hour"
        said.append(f"grows by {rate}, as known for {show_duration(growth.known_for_seconds)}")
    if free is not None:
        said.append(f"free on the disk: {show_size(free)}")
    return tuple(said)


def _seconds_until_full(case: Case) -> float | None:
    """Return when all unbounded logs together have filled the disk; None unless it is soon and this one is to blame."""
    growth = case.container.log_growth
    free = _free_bytes(case) if growth is not None and growth.bytes_per_hour > 0 else None
    if growth is None or free is None:
        return None
    ahead = min(LOOKED_AHEAD_SECONDS, FORESIGHT * growth.known_for_seconds)
    if free * _HOUR_SECONDS * _SHARE > growth.bytes_per_hour * ahead:
        return None  # not even with the most that the others may write
    all_of_them = case.log_bytes_per_hour
    seconds = free * _HOUR_SECONDS / all_of_them
    is_to_blame = growth.bytes_per_hour >= _SHARE * all_of_them
    return seconds if seconds <= ahead and is_to_blame else None


def _free_bytes(case: Case) -> int | None:
    root = case.host.engine.root_dir if case.host.engine is not None else None
    return next((disk.free_bytes for disk in case.host.disks or () if disk.path == root), None)


def _advise(case: Case) -> Advice:
    bound = known_step("bound_log_in_file" if case.container.compose is not None else "bound_log")
    if _seconds_until_full(case) is None:
        return Advice(suggestions=(bound,))
    return Advice(causes=(known_cause("log_not_rotated"),), suggestions=(known_step("empty_log"), bound))


RULE = SymptomRule(
    type=UNBOUNDED,
    hysteresis=Hysteresis.NONE,
    decides=False,
    from_log=False,
    is_failure=False,
    judge=_judge,
    advise=_advise,
    description="A log of the driver json-file without `max-size` that is larger than thresholds.log_file_bytes, or "
    "one of those that together fill the disk below the engine's root within a day. A rate counts for 24 times as long "
    "as it is known, and a log for which a tenth of all that they grow is too much is not blamed.",
    conditions=(
        (
            "logs that nothing bounds fill the disk within a day at this rate, this one among the first",
            Severity.WARNING,
        ),
        ("a log of {log_file_bytes} or more that nothing bounds", Severity.INFO),
    ),
    unknown_when="when the log file cannot be seen, as from within a container that does not have it mounted, or by "
    "another user than root; without the disk's free space, or before growth is known, only its size is judged",
    source="docs/symptoms.md#log_unbounded; moby keeps all by default, and a full disk stops every container",
)
