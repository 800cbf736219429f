"""What containers and Compose projects know of each other's secrets; in memory only, never saved, never shown."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from threading import Lock

from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.lifecycle import EventBatch, LifecycleEvent
from bcon_exporter.secrets.hide_in_models import hide_in_facts
from bcon_exporter.secrets.known_secrets import MOST_VALUES, NO_SECRETS, KnownSecrets

MOST_EMPTY_PROJECTS = 256


class HostSecrets:
    """A value that one container or file of a project holds is hidden in all of that project.

    One a process, shared by the readers of the engine and of Compose files. Thread-safe. What a project's files said
    once stays known for as long as it has containers: one may still have the password of before.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._containers: dict[str, tuple[str | None, frozenset[str]]] = {}
        self._members: dict[str, dict[str, frozenset[str]]] = {}
        self._files: dict[str, dict[str, None]] = {}
        self._of_projects: dict[str, KnownSecrets] = {}
        self._of_containers: dict[str, KnownSecrets] = {}
        self._changed_at: dict[str, int] = {}
        self.version = 0

    def copy(self) -> "HostSecrets":
        """Return a book that knows the same, and can learn more without this one: of files that nobody has written."""
        made = HostSecrets()
        with self._lock:
            made._containers = dict(self._containers)
            made._members = {project: dict(members) for project, members in self._members.items()}
            made._files = {project: dict(values) for project, values in self._files.items()}
            made._of_projects, made._of_containers = dict(self._of_projects), dict(self._of_containers)
            made._changed_at, made.version = dict(self._changed_at), self.version
        return made

    def learn_container(self, container_id: str, project: str | None, values: frozenset[str]) -> None:
        """Take what one container holds, in place of what it held; `project` is what its labels claim."""
        with self._lock:
            before = self._containers.get(container_id)
            if before != (project, values):
                self._containers[container_id] = (project, values)
                if before is not None:
                    self._leave_project(before[0], container_id)
                if project is not None:
                    self._members.setdefault(project, {})[container_id] = values
                self._changed(container_id, before, (project, values))

    def learn_files(self, project: str, values: Iterable[str]) -> None:
        """Add what a project's files hold."""
        with self._lock:
            known = self._files.setdefault(project, {})
            new = [value for value in values if value not in known]
            if new:
                known.update(dict.fromkeys(new))
                for oldest in list(islice(known, max(0, len(known) - MOST_VALUES))):
                    del known[oldest]
                self._forget_made(project)

    def retain(self, container_ids: Iterable[str]) -> None:
        """Forget all other containers, and of the projects without any all but those that changed last."""
        with self._lock:
            for container_id in self._containers.keys() - set(container_ids):
                gone = self._containers.pop(container_id)
                self._leave_project(gone[0], container_id)
                self._changed(container_id, gone)
            self._forget_projects()

    def changed_since(self, version: int) -> frozenset[str]:
        """Return the projects of which something else is known than at a version."""
        with self._lock:
            return frozenset(project for project, at in self._changed_at.items() if at > version)

    def of_project(self, project: str) -> KnownSecrets:
        """Return what is known of a project; the same object for as long as that is the same."""
        with self._lock:
            return self._of_project(project)

    def of_container(self, container_id: str) -> KnownSecrets:
        """Return what is known of a container and of its project; the same object for as long as that is the same."""
        with self._lock:
            return self._of_container(container_id)

    def of_known(self, container_id: str) -> KnownSecrets | None:
        """Return what is known of a container; None of one whose environment was never read."""
        return self.of_container(container_id) if container_id in self._containers else None

    def hide(self, text: str) -> str:
        """Hide every value of every container and project, for texts of no container: errors, our own log."""
        with self._lock:
            known = {id(made): made for made in map(self._of_project, self._files.keys() | self._members.keys())} | {
                id(made): made for made in map(self._of_container, self._containers)
            }
        for secrets in known.values():
            if not secrets.too_many:
                text = secrets.hide(text)
        return text

    def _of_container(self, container_id: str) -> KnownSecrets:
        project, own = self._containers.get(container_id, (None, frozenset()))
        shared = self._of_project(project) if project is not None else NO_SECRETS
        if own <= shared.values:
            return shared
        made = self._of_containers.get(container_id)
        if made is None:
            made = self._of_containers[container_id] = KnownSecrets(own | shared.values)
        return made

    def _of_project(self, project: str) -> KnownSecrets:
        made = self._of_projects.get(project)
        if made is None:
            files = frozenset(self._files.get(project, ()))
            whole = KnownSecrets(files.union(*self._members.get(project, {}).values()))
            # labels are claims: a container that brings too many hides its own texts, not those of the project
            made = self._of_projects[project] = KnownSecrets(files) if whole.too_many else whole
        return made

    def _leave_project(self, project: str | None, container_id: str) -> None:
        if project is not None and (members := self._members.get(project)) is not None:
            members.pop(container_id, None)
            if not members:
                del self._members[project]

    def _forget_projects(self) -> None:
        """A host may see a project once an hour that it never sees again, as of tests."""
        empty = (self._files.keys() | self._of_projects.keys() | self._changed_at.keys()) - self._members.keys()
        for project in sorted(empty, key=lambda one: self._changed_at.get(one, 0))[:-MOST_EMPTY_PROJECTS]:
            for known in (self._files, self._of_projects, self._changed_at):
                known.pop(project, None)

    def _changed(self, container_id: str, *states: tuple[str | None, frozenset[str]] | None) -> None:
        self._of_containers.pop(container_id, None)
        for state in states:
            if state is not None and state[1]:
                self._forget_made(state[0])
        self.version += 1

    def _forget_made(self, project: str | None) -> None:
        self.version += 1
        if project is None:
            return
        self._changed_at[project] = self.version
        if self._of_projects.pop(project, None) is not None:
            for container_id in self._members.get(project, ()):
                self._of_containers.pop(container_id, None)


def hide_in_snapshot(snapshot: HostSnapshot, book: HostSecrets) -> HostSnapshot:
    """Return a snapshot in which the containers of Compose projects show nothing of what is known of them by now."""
    version = book.version
    if version == snapshot.hidden_version:
        return snapshot
    projects = book.changed_since(snapshot.hidden_version)
    containers = tuple(
        hide_in_facts(facts, book.of_known(facts.id) or book.of_project(facts.compose.project))
        if facts.compose is not None and facts.compose.project in projects
        else facts
        for facts in snapshot.containers
    )
    return snapshot.model_copy(update={"containers": containers, "hidden_version": version})


def hide_in_events(batch: EventBatch, book: HostSecrets) -> EventBatch:
    """Return events whose images show no secret as a tag: they are kept in the state file."""
    events = tuple(
        replace(event, image=image)
        if event.image and (image := _known_to(event, book).hide_tag(event.image)) != event.image
        else event
        for event in batch.events
    )
    return replace(batch, events=events) if events != batch.events else batch


def _known_to(event: LifecycleEvent, book: HostSecrets) -> KnownSecrets:
    """Return what is known of a container; of one that was never inspected, what its project holds."""
    known = book.of_known(event.container_id)
    if known is None and event.project is not None:
        known = book.of_project(event.project)
    return known or NO_SECRETS
