"""Has Compose read edits that nobody has written: a folder in which the whole file system is seen with them.

Each folder on the way to an edited file is a real one there, whose other entries are links to the originals. So every
relative name in a file leads where it leads in the original, and to the edit where it leads to an edited file.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bcon_exporter.compose.invocation import ComposeInvocation
from bcon_exporter.errors import InvalidInputError, NotAvailableError
from bcon_exporter.secrets.masking import safe_text

_MOST_LINKS = 50_000
_PREFIX = "bcon-check-"
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 -- a folder of its own is made in it, as in /tmp
"""A container has it, and may write there, even where all else of it is read-only."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An edit of one file that somebody thinks of.

    Attributes:
        path: Of the file.
        project_name: Of the project to judge, where several read the file.
        apply: Returns the text with the edit, of the text without (None where there is no such file) and the names of
            the variables that have a value.
    """

    path: str
    project_name: str | None
    apply: Callable[[str | None, frozenset[str]], str]


@dataclass(frozen=True, slots=True)
class EditedView:
    """What to ask Compose, so that it reads the edits.

    Attributes:
        root: The folder under which the file system is seen; "" without any edit.
        is_whole: All names are below it, since a file is edited that another one brings in: a configuration hash then
            hangs on names that are not the originals'.
    """

    invocation: ComposeInvocation
    root: str = ""
    is_whole: bool = False

    def original(self, text: str) -> str:
        """Return a path, or a text with paths in it, as the originals are named."""
        return text.replace(self.root, "") if self.root else text

    def path_map(self, path_map: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return pairs of a path on the Docker host and the one here, for what is read here."""
        return (("/", self.root), *((host, self.root + local) for host, local in path_map), *path_map)


@contextmanager
def view_edited(invocation: ComposeInvocation, edited: Mapping[str, str]) -> Iterator[EditedView]:
    """Provide what to ask with edited files in the places of their originals.

    Args:
        invocation: What to ask without them.
        edited: Absolute path → text.

    Raises:
        InvalidInputError: A folder on the way has too many entries.
        NotAvailableError: There is no room for temporary files.
    """
    if not edited:
        yield EditedView(invocation)
        return
    env_files = invocation.env_files
    default_env = invocation.cwd / ".env"
    if not env_files and str(default_env) in edited:
        env_files = (default_env,)
    is_whole = not edited.keys() <= {str(file) for file in (*invocation.files, *env_files)}
    root = os.path.realpath(_make_folder())
    try:
        _show_with(root, edited)

        def place(file: Path) -> Path:
            return Path(f"{root}{file}") if is_whole or str(file) in edited else file

        asked = replace(
            invocation,
            files=tuple(map(place, invocation.files)),
            env_files=tuple(map(place, env_files)),
            project_directory=place(invocation.cwd),
        )
        yield EditedView(asked, root, is_whole)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def refuse_unread(edited: Iterable[str], view: EditedView, looked_at: Iterable[str]) -> None:
    """Refuse the edit of a file that Compose does not read.

    Raises:
        InvalidInputError: Nothing leads to it, or only an absolute name, which leads to the original.
    """
    unread = sorted({view.root + name for name in edited} - set(looked_at))
    if unread:
        shown = safe_text(view.original(unread[0]))
        msg = f"{shown}: the Compose files do not read it by a relative name, so its edit cannot be judged"
        raise InvalidInputError(msg, {"file": shown})


def _make_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix=_PREFIX)
    except OSError:  # no folder for temporary files, as in a read-only container
        pass
    try:
        return tempfile.mkdtemp(prefix=_PREFIX, dir=_SHARED_MEMORY)
    except OSError as error:
        msg = "an edit is resolved in a temporary folder, and none can be made here: give bcon-exporter a tmpfs at /tmp"
        raise NotAvailableError(msg, {"would_help": "a tmpfs at /tmp"}) from error


def _show_with(root: str, edited: Mapping[str, str]) -> None:
    links_left = _MOST_LINKS
    folders = {folder for name in edited for folder in Path(name).parents}
    for folder in sorted(folders, key=lambda path: len(path.parts)):
        own = Path(f"{root}{folder}")
        own.mkdir(exist_ok=True)
        with suppress(OSError):  # a folder that may be passed through and not be listed
            for entry in os.scandir(folder):
                path = Path(entry.path)
                if path in folders or entry.path in edited:
                    continue
                links_left -= 1
                if links_left < 0:
                    msg = f"{safe_text(str(folder))} has too many entries for an edit below it to be judged"
                    raise InvalidInputError(msg, {"file": safe_text(str(folder))})
                (own / entry.name).symlink_to(path)
    for name, text in edited.items():
        Path(root + name).write_text(text, encoding="utf-8", errors="surrogateescape")
