"""The secrets of a project's files: of its env files as they lie there, and of what Compose made of all of them."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import re2

from bcon_exporter.compose.files import is_within, to_local
from bcon_exporter.compose.invocation import ResolvedModel
from bcon_exporter.compose.involved import Asked
from bcon_exporter.compose.options import ComposeOptions
from bcon_exporter.model.facts import ComposeIdentity
from bcon_exporter.model.known_secrets import KnownSecrets, find_secrets
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secret_book import SecretBook

Parser = Callable[[str], Iterator[tuple[str, str]]]

_DEFAULT = re2.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,127}):?[-+]([^{}\n]+)\}")
_QUOTES = ("'", '"')
_DOUBLE_QUOTED = {"\\n": "\n", '\\"': '"', "\\$": "$", "\\\\": "\\"}


class EnvFiles:
    """Reads the `.env` of running projects, the env files that `up` was given and the defaults in their Compose files.

    So what is interpolated is hidden from the first scan on, before Compose is asked and where drift is never looked
    at. In the daemon only files under `compose.roots` are read: labels are claims.
    """

    def __init__(self, options: ComposeOptions, book: SecretBook) -> None:
        self._options, self._book = options, book
        self._located: dict[tuple[object, ...], list[tuple[str, Parser]]] = {}
        self._seen: dict[tuple[str, str], tuple[int, ...]] = {}

    def learn(self, claims: Iterable[ComposeIdentity]) -> None:
        """Take what is new or changed in the env files of the projects that containers claim."""
        named = {(claim.project, claim.working_dir, claim.environment_files, claim.config_files) for claim in claims}
        located: dict[tuple[object, ...], list[tuple[str, Parser]]] = {}
        seen: dict[tuple[str, str], tuple[int, ...]] = {}
        for claim in named:
            project, directory, env_files, compose_files = claim
            files = located[claim] = self._located.get(claim) or self._locate_all(directory, env_files, compose_files)
            for file, parse in files:
                signature = _signature(file)
                if signature is None:
                    continue
                seen[project, file] = signature
                if self._seen.get((project, file)) != signature:
                    self._book.learn_files(project, find_secrets(parse(self._read(file))))
        self._located, self._seen = located, seen

    def secrets_of(self, asked: Asked) -> KnownSecrets:
        """Return what the files that Compose could not resolve hold, and what it was given besides."""
        env_files = asked.env_files or (asked.directory / ".env",)
        named: list[tuple[Path, Parser]] = [(file, find_defaults) for file in asked.files]
        named += [(file, parse_env_file) for file in env_files]
        pairs = list(self._options.environ.items())
        for file, parse in named:
            if asked.roots is None or is_within(file, asked.roots):
                pairs += parse(_read(file))
        return KnownSecrets(find_secrets(pairs))

    def _locate_all(
        self, directory: str | None, env_files: Iterable[str], compose_files: Iterable[str]
    ) -> list[tuple[str, Parser]]:
        found: list[tuple[str, Parser]] = [(file, find_defaults) for file in self._locate(compose_files, directory)]
        found += [(file, parse_env_file) for file in self._locate((*env_files, ".env"), directory)]
        if self._options.env_file is not None:
            found.append((str(self._options.env_file), parse_env_file))
        return [(file, parse) for file, parse in found if self._may_read(Path(file))]

    def _locate(self, names: Iterable[str], directory: str | None) -> Iterator[str]:
        for name in names:
            local = to_local(os.path.join(directory or "", name), self._options.path_map)  # noqa: PTH118 -- of the host
            if os.path.isabs(local):  # noqa: PTH117 -- as above
                yield local

    def _may_read(self, file: Path) -> bool:
        return self._options.trusted or file == self._options.env_file or is_within(file, self._options.roots)

    def _read(self, name: str) -> str:
        file = Path(name)
        return _read(file) if self._may_read(file) else ""


def _read(file: Path) -> str:
    try:
        return read_regular_file(file).decode(errors="replace")
    except UnreadableFileError:
        return ""


def _signature(file: str) -> tuple[int, ...] | None:
    try:
        facts = os.stat(file)  # noqa: PTH116 -- for each project and scan, and a Path costs more than the call
    except (OSError, ValueError):
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def parse_env_file(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values as Compose may read them; a value that can be read in two ways is two."""
    lines = iter(text.splitlines())
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or name.startswith("#"):
            continue
        if value[:1] in _QUOTES:
            quote, parts = value[0], [value[1:]]
            while not _is_closed(parts[-1], quote) and (following := next(lines, None)) is not None:
                parts.append(following)
            value = "\n".join(parts)
            value = value[: value.rfind(quote)] if quote in value else value
            yield name, value
            for escaped, meant in _DOUBLE_QUOTED.items():
                value = value.replace(escaped, meant)
        else:
            yield name, value
            value = value.partition(" #")[0].rstrip()
        yield name, value


def find_defaults(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and defaults of references in a Compose file, `${NAME:-default}`."""
    for match in _DEFAULT.finditer(text):
        yield match.group(1), match.group(2)


def _is_closed(line: str, quote: str) -> bool:
    return quote in line.replace(f"\\{quote}", "")


def secrets_of_model(resolved: ResolvedModel) -> frozenset[str]:
    """Return what a resolved project holds under a secret's name: variables, environments, labels, options, any key.

    A variable that a Compose secret is made of is one, whatever its name.
    """
    named = {
        secret.get("environment")
        for secret in (resolved.model.get("secrets") or {}).values()
        if isinstance(secret, dict)
    }
    as_secrets = [("secret", value) for name, value in resolved.variables if name in named]
    return find_secrets([*resolved.variables, *as_secrets, *_pairs_of(resolved.model)])


def _pairs_of(model: Any) -> Iterator[tuple[str, str]]:
    """Yield every text of a model with the key that it stands under."""
    waiting: list[tuple[str, Any]] = [("", model)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [("", one) for one in value]
        elif isinstance(value, str):
            yield key, value
