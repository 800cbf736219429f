"""Files of secrets and configs, which Compose mounts from the host."""

from collections.abc import Callable, Iterable, Iterator

from bcon_exporter.deployments.check.rule import FAILS, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, only_one
from bcon_exporter.model.check_report import NotChecked
from bcon_exporter.model.deployment import WantedFile, WantedService


def find_missing_files(
    planned: PlannedDeployment,
    kind: str,
    files: Iterable[WantedFile],
    uses: Callable[[WantedService], tuple[str, ...]],
) -> Iterator[Found | NotChecked]:
    """Yield the files that some service uses and that are not there.

    Args:
        planned: The deployment.
        kind: "secret" or "config".
        files: All of that kind.
        uses: Returns which of them a service uses.
    """
    for file in files:
        users = planned.users_of(uses, file.key)
        if file.path is None or not users:
            continue
        is_there = planned.is_there(file.path)
        if is_there is None:
            reason = next(reversed(planned.host.unseen.values()), "this user may not look there")
            yield NotChecked(what=f"the file {file.path} of the {kind} {file.key}", reason=reason)
        elif not is_there:
            message = f"The file {file.path} of the {kind} {file.key} is not there. Create it, or correct the path."
            evidence = (f"used by {', '.join(users)}",)
            yield Found(FAILS, message, only_one(users), evidence=evidence, key=f"{kind}s.{file.key}.file")
