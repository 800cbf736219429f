"""Finds the hook for whose failure a container was never started."""

from collections.abc import Iterable, Sequence

from bcon_exporter.diagnosis.finding import Finding, quote
from bcon_exporter.diagnosis.peer_state import HostContext
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import LikelyCause, Symptom, SymptomType, Urgency
from bcon_exporter.model.hooks import describe_failure, describe_hook, find_failed
from bcon_exporter.model.signatures import SuggestionText

HOOK_FAILED = "hook_failed"
_CONFIDENCE = 0.95
_LINES = 2
_OF_LOG = frozenset(
    {SymptomType.NETWORK_ERROR, SymptomType.DISK_PRESSURE, SymptomType.SLOW_RESPONSE, SymptomType.LOG_ERROR}
)


def find_hook_causes(hooks: Iterable[ContainerFacts], context: HostContext) -> list[Finding]:
    """Return the failed one of a service's hooks as the cause for which the service was never started."""
    hook = find_failed(hooks)
    if hook is None:
        return []
    cause = LikelyCause(
        id=HOOK_FAILED,
        description=f"It waits for its {describe_hook(hook)}, which {describe_failure(hook)}.",
        confidence=_CONFIDENCE,
        evidence=tuple(map(quote, _last_words(hook, context.symptoms.get(hook.id, ())))),
        related_symptoms=(SymptomType.NEVER_STARTED,),
        peer=hook.name,
    )
    return [Finding(cause, (_suggest_repair(hook),), hook.id)]


def _last_words(hook: ContainerFacts, symptoms: Sequence[Symptom]) -> tuple[str, ...]:
    """Return the lines of its log that say why it failed: those of its symptoms, or else its last ones."""
    from_log = dict.fromkeys(line for symptom in symptoms if symptom.type in _OF_LOG for line in symptom.evidence)
    if from_log:
        return tuple(from_log)[-_LINES:]
    return tuple(line.text for line in hook.logs.lines[-_LINES:]) if hook.logs is not None else ()


def _suggest_repair(hook: ContainerFacts) -> SuggestionText:
    name = safe_name(hook)
    return SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action=f"Repair what {name} fails at, then run `docker compose up` again.",
        rationale="Only `up` makes a hook anew and runs it; the service is started when its hooks have ended with 0.",
        check=f"docker logs --tail 50 {name}",
    )


CAUSES = {
    HOOK_FAILED: "a hook of its service (`pre_start`) failed, and so the service was created and never started",
}
"""Cause id → when it is given, for the docs."""
