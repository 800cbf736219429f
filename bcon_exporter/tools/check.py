"""check: gathers what a deployment would make and what is there, and judges it. With the user's own rights only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta

from bcon_exporter.compose import ResolvedDeployment
from bcon_exporter.deployments.check import check_deployment
from bcon_exporter.drift import find_projects
from bcon_exporter.engine import Wants
from bcon_exporter.errors import StateFileError
from bcon_exporter.model.check_report import CheckInput, CheckReport
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.deployment import DeploymentWords, ImageFacts
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.fresh_snapshot import hide_learned, observe
from bcon_exporter.tools.tool import Tool

CHECK_WANTS = Wants(logs=False, usage=True, config=True)
_PEAK_OF = timedelta(days=1)


def check(context: Context, words: DeploymentWords) -> CheckReport:
    """Return whether a deployment would come up on this host, and what it would do to what runs.

    Raises:
        ComposeFileNotFoundError, PermissionDeniedError: There is no such Compose file, or it may not be read.
        DockerConnectionError, DeadlineExceededError: The engine does not answer.
        InvalidInputError: An edit cannot be judged.
    """
    given = gather(context, words)
    return hide_in_report(check_deployment(given), context.secrets.hide)


def gather(context: Context, words: DeploymentWords) -> CheckInput:
    """Return all that a check is judged by; raises as `check` does."""
    snapshot = observe(context, CHECK_WANTS)

    def resolve() -> ResolvedDeployment:
        return context.compose.resolve_deployment(words, snapshot.taken_at, find_projects(snapshot))

    resolved, snapshot = hide_learned(context, snapshot, resolve)
    return gather_around(context, snapshot, resolved)


def gather_around(
    context: Context, snapshot: HostSnapshot, resolved: ResolvedDeployment, *, sees_paths: bool = True
) -> CheckInput:
    """Return what a resolved deployment is judged by.

    Args:
        context: For the host.
        snapshot: Of it.
        resolved: What is to be judged.
        sees_paths: Whether to look which of its paths are there: not for those who ask a daemon, and may name any.
    """
    deployment = resolved.deployment
    paths = deployment.paths if deployment is not None and sees_paths else {}
    return CheckInput(
        snapshot=snapshot,
        deployment=deployment.wanted if deployment is not None else None,
        desired=resolved.desired,
        refusal=resolved.refusal,
        problem=resolved.problem,
        places=dict(resolved.places),
        images=_read_images(context, resolved),
        programs=dict(resolved.programs),
        host=context.host.look_at_host(snapshot, paths),
        peak_memory_bytes=_find_peaks(context, resolved, snapshot),
        files=dict(resolved.files),
    )


def _read_images(context: Context, resolved: ResolvedDeployment) -> dict[str, ImageFacts | None]:
    """Return each service's image; a service whose image could not be read has none."""
    if resolved.deployment is None:
        return {}
    by_service = resolved.deployment.images
    found = context.host.read_images(by_service.values())
    return {service: found[reference] for service, reference in by_service.items() if reference in found}


def _find_peaks(context: Context, resolved: ResolvedDeployment, snapshot: HostSnapshot) -> dict[str, int]:
    """Return the most memory that each container of limited services used in the last day, where it is known."""
    if resolved.deployment is None:
        return {}
    wanted = resolved.deployment.wanted
    limited = {service.name for service in wanted.services if service.memory_limit_bytes is not None}
    peaks: dict[str, int] = {}
    for container in snapshot.containers:
        claim = container.compose
        if claim is not None and claim.project == wanted.project and claim.service in limited:
            try:
                slots = context.memory.find_usage(container.id, snapshot.taken_at - _PEAK_OF)
            except StateFileError:
                break
            used = [slot.memory_bytes.maximum for slot in slots if slot.memory_bytes.maximum is not None]
            if used:
                peaks[container.id] = int(max(used))
    return peaks


def hide_in_report(report: CheckReport, hide_known: Callable[[str], str]) -> CheckReport:
    """Return a report in whose sentences no secret stands that any container or file is known to hold."""
    hide_quickly = hide_among(_find_sentences(report), hide_known)

    def hide(text: str) -> str:
        return safe_text(hide_quickly(text))

    findings = tuple(
        finding.model_copy(
            update={
                "message": hide(finding.message),
                "evidence": tuple(map(hide, finding.evidence)),
                "file": finding.file and hide(finding.file),
            }
        )
        for finding in report.findings
    )
    not_checked = tuple(
        one.model_copy(update={"what": hide(one.what), "reason": hide(one.reason)}) for one in report.not_checked
    )
    plan = tuple(
        step.model_copy(update={"why": tuple(map(hide, step.why)), "hooks": tuple(map(hide, step.hooks))})
        for step in report.plan
    )
    return report.model_copy(
        update={"findings": findings, "not_checked": not_checked, "plan": plan, "summary": hide(report.summary)}
    )


def _find_sentences(report: CheckReport) -> Iterator[str]:
    for finding in report.findings:
        yield from (finding.message, *finding.evidence)
    for check in report.not_checked:
        yield from (check.what, check.reason)
    for step in report.plan:
        yield from step.why


def hide_among(texts: Iterable[str], hide: Callable[[str], str]) -> Callable[[str], str]:
    """Return what hides as `hide` does: most of many texts hold nothing, and one search says so of all of them."""
    clean: set[str] = set()

    def sort_out(part: Sequence[str]) -> None:
        joined = "\n".join(part)
        if hide(joined) == joined:
            clean.update(part)
        elif len(part) > 1:
            middle = len(part) // 2
            sort_out(part[:middle])
            sort_out(part[middle:])

    sort_out(tuple(dict.fromkeys(texts)))
    return lambda text: text if text in clean else hide(text)


CHECK = Tool("check", "Whether a deployment would come up.", DeploymentWords, CheckReport, check)
