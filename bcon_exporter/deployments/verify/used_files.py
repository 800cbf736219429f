"""Says where `up` has used other Compose files than those that the deployment is judged by."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from bcon_exporter.deployments.verify.rule_context import CLOCK_SLACK
from bcon_exporter.drift import compare_hash
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.desired import DesiredProject


def find_other_files(containers: Iterable[ContainerFacts], desired: DesiredProject, since: datetime) -> Iterator[str]:
    """Yield a sentence for other names of files, and for each service that was made from other contents of them."""
    services = {service.name: service for service in desired.services or ()}
    named: dict[tuple[str, ...], None] = {}
    changed: dict[str, None] = {}
    for container in containers:
        claim = container.compose
        if claim is None or container.created_at + CLOCK_SLACK < since:
            continue
        if claim.config_files and set(claim.config_files) != set(desired.config_files):
            named[claim.config_files] = None
        service = services.get(claim.service)
        if service is None or not service.enabled:  # a provider has a relay at most, with a hash of its own
            continue
        if compare_hash(service, container, desired.compose_version) is False:
            changed[claim.service] = None
    for files in named:
        yield f"`up` used other files than are judged here: {', '.join(files)}."
    for name in changed:
        yield (
            f"{name} was made from other contents of the files, or of their variables, than are judged here: its "
            "configuration hash is another one."
        )
