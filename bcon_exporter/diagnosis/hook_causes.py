"""Finds the hook for whose failure a container was never started."""

from collections.abc import Iterable, Sequence

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.finding import Finding, finding_of, quote
from bcon_exporter.diagnosis.peer_state import HostContext
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Symptom, SymptomType
from bcon_exporter.model.hooks import describe_failure, describe_hook, find_failed

HOOK_FAILED = "hook_failed"
_LINES = 2
_OF_LOG = frozenset(
    {SymptomType.NETWORK_ERROR, SymptomType.DISK_PRESSURE, SymptomType.SLOW_RESPONSE, SymptomType.LOG_ERROR}
)


def find_hook_causes(hooks: Iterable[ContainerFacts], context: HostContext) -> list[Finding]:
    """Return the failed one of a service's hooks as the cause for which the service was never started."""
    hook = find_failed(hooks)
    if hook is None:
        return []
    cause = known_cause(
        HOOK_FAILED, hook=describe_hook(hook), failure=describe_failure(hook), hook_name=safe_name(hook)
    )
    evidence = tuple(map(quote, _last_words(hook, context.symptoms.get(hook.id, ()))))
    return [finding_of(cause, evidence, (SymptomType.NEVER_STARTED,), hook.name, hook.id)]


def _last_words(hook: ContainerFacts, symptoms: Sequence[Symptom]) -> tuple[str, ...]:
    """Return the lines of its log that say why it failed: those of its symptoms, or else its last ones."""
    from_log = dict.fromkeys(line for symptom in symptoms if symptom.type in _OF_LOG for line in symptom.evidence)
    if from_log:
        return tuple(from_log)[-_LINES:]
    return tuple(line.text for line in hook.logs.lines[-_LINES:]) if hook.logs is not None else ()
