"""The hooks of a Compose service: containers that run to their end before it is started (`pre_start`).

Compose makes them beside the service's containers, starts one after the other, and takes each away that ended with 0.
One that failed is kept, those behind it stay as they were made, and the service is not started.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState

Hooks = Mapping[tuple[str, str], tuple[ContainerFacts, ...]]
"""Project and service → its hooks that are there, in the order in which they run."""


def group_hooks(containers: Iterable[ContainerFacts]) -> Hooks:
    """Return the hooks among the containers, by project and service."""
    by_service: dict[tuple[str, str], list[ContainerFacts]] = defaultdict(list)
    for container in containers:
        if container.compose is not None and container.compose.hook is not None:
            by_service[container.compose.project, container.compose.service].append(container)
    return {service: tuple(sorted(hooks, key=_order)) for service, hooks in by_service.items()}


def _order(hook: ContainerFacts) -> tuple[int, str]:
    index = hook.compose.hook_index if hook.compose is not None else None
    return (0 if index is None else index, hook.name)


def is_hook(container: ContainerFacts) -> bool:
    """Whether a container runs a hook of its service."""
    return container.compose is not None and container.compose.hook is not None


def find_failed(hooks: Iterable[ContainerFacts]) -> ContainerFacts | None:
    """Return the hook that failed: Compose runs none behind it."""
    return next((hook for hook in hooks if _has_failed(hook)), None)


def _has_failed(hook: ContainerFacts) -> bool:
    """Whether it ended with another code than 0, or could not be started."""
    if hook.state in (ContainerState.EXITED, ContainerState.DEAD):
        return bool(hook.exit_code)
    return hook.state is ContainerState.CREATED and bool(hook.error or hook.exit_code)


def describe_hook(hook: ContainerFacts) -> str:
    """Return what it is, to go on "its": "pre_start hook shop-api-pre_start-0"."""
    kind = hook.compose.hook if hook.compose is not None and hook.compose.hook else ""
    return f"{kind} hook {hook.name}".strip()


def explain_waiting(hooks: Iterable[ContainerFacts]) -> str | None:
    """Return for which hook a service that was never started waits, in one sentence; None where no hook tells."""
    hooks = tuple(hooks)
    failed = find_failed(hooks)
    if failed is not None:
        return f"Its {describe_hook(failed)} {describe_failure(failed)}."
    running = next((hook for hook in hooks if hook.is_running), None)
    return None if running is None else f"Its {describe_hook(running)} is still running."


def describe_failure(hook: ContainerFacts) -> str:
    """Return how it failed, to go on "its hook"."""
    return "could not be started" if hook.state is ContainerState.CREATED else f"ended with code {hook.exit_code}"
