"""Finds the secrets in a project's env files, in the text of its Compose files and in its resolved model."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import re2

from bcon_exporter.compose.compose_options import ComposeOptions
from bcon_exporter.compose.files import is_within, to_local
from bcon_exporter.compose.invocation import ResolvedModel
from bcon_exporter.compose.involved_files import ResolutionRequest
from bcon_exporter.compose.yaml_nodes import MappingNode, Node, UndeterminedFilesError, parse_nodes
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import ComposeIdentity
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secrets.known_secrets import KnownSecrets, find_secrets

Parser = Callable[[str], Iterator[tuple[str, str]]]

_DEFAULT = re2.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,127}):?[-+]([^{}\n]+)\}")
_QUOTES = ("'", '"')
_DOUBLE_QUOTED = {"\\n": "\n", '\\"': '"', "\\$": "$", "\\\\": "\\"}


class EnvFiles:
    """Reads the `.env` of running projects, the env files of `up`, and their Compose files.

    So interpolated secrets are hidden from the first scan on, before Compose runs, and where drift is switched off. The
    daemon reads only files under `compose.roots`: labels are claims.
    """

    def __init__(self, options: ComposeOptions, book: HostSecrets) -> None:
        self._options, self._book = options, book
        self._located: dict[tuple[object, ...], list[tuple[str, Parser]]] = {}
        self._signatures: dict[tuple[str, str], tuple[int, ...]] = {}

    def learn(self, claims: Iterable[ComposeIdentity]) -> None:
        """Learn the secrets of new and changed files of the projects that containers claim."""
        distinct_claims = {
            (claim.project, claim.working_dir, claim.environment_files, claim.config_files) for claim in claims
        }
        located: dict[tuple[object, ...], list[tuple[str, Parser]]] = {}
        signatures: dict[tuple[str, str], tuple[int, ...]] = {}
        for claim in distinct_claims:
            project, directory, env_files, compose_files = claim
            files = located[claim] = self._located.get(claim) or self._locate_all(directory, env_files, compose_files)
            for file, parse in files:
                signature = _signature(file)
                if signature is None:
                    continue
                signatures[project, file] = signature
                if self._signatures.get((project, file)) != signature:
                    self._book.learn_files(project, find_secrets(parse(self._read(file))))
        self._located, self._signatures = located, signatures

    def secrets_of(self, request: ResolutionRequest, involved: Iterable[str] = ()) -> KnownSecrets:
        """Return the secrets in the files of a request, and in the environment: what is known before Compose answers.

        Args:
            request: Its files.
            involved: More files, which those name.
        """
        env_files = request.env_files or (request.directory / ".env",)
        files: dict[Path, Parser] = {Path(file): _parser_of(file) for file in involved}
        files |= dict.fromkeys(request.files, parse_compose_file) | dict.fromkeys(env_files, parse_env_file)
        pairs = list(self._options.environ.items())
        for file, parse in files.items():
            if request.roots is None or is_within(file, request.roots):
                pairs += parse(_read(file))
        return KnownSecrets(find_secrets(pairs))

    def variables_of(self, request: ResolutionRequest) -> frozenset[str]:
        """Return the names of the variables that have a value for a request."""
        names = set(self._options.environ)
        for file in request.env_files or (request.directory / ".env",):
            if request.roots is None or is_within(file, request.roots):
                names.update(name for name, _ in parse_env_file(_read(file)))
        return frozenset(names)

    def _locate_all(
        self, directory: str | None, env_files: Iterable[str], compose_files: Iterable[str]
    ) -> list[tuple[str, Parser]]:
        located: list[tuple[str, Parser]] = [
            (file, parse_compose_file) for file in self._locate(compose_files, directory)
        ]
        located += [(file, parse_env_file) for file in self._locate((*env_files, ".env"), directory)]
        if self._options.env_file is not None:
            located.append((str(self._options.env_file), parse_env_file))
        return [(file, parse) for file, parse in located if self._may_read(Path(file))]

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
    """Yield names and values as Compose may read them; a value that may be read in two ways is yielded twice."""
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
            for escaped, replacement in _DOUBLE_QUOTED.items():
                value = value.replace(escaped, replacement)
        else:
            yield name, value
            value = value.partition(" #")[0].rstrip()
        yield name, value


def parse_compose_file(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values as they stand in the text of a Compose file, and the defaults of references.

    Of what is no YAML, or too much of it, each line counts by itself.
    """
    yield from find_defaults(text)
    try:
        yield from _pairs_of_nodes(parse_nodes(text.encode(errors="replace")))
    except UndeterminedFilesError:
        for line in text.splitlines():
            yield from _pairs_of_item(line.strip().removeprefix("- "), ":")
        yield from parse_env_file(text)


def _pairs_of_nodes(documents: Iterable[Node]) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for every scalar, each collection once for each key that leads to it."""
    waiting: list[tuple[str, Node]] = [("", node) for node in documents]
    visited: set[tuple[str, int]] = set()
    while waiting:
        key, node = waiting.pop()
        if isinstance(node, str):
            value = node.replace("$$", "$")
            yield key, value
            if not key:
                yield from _pairs_of_item(value, "=")
        elif (key, id(node)) not in visited:
            visited.add((key, id(node)))
            if isinstance(node, MappingNode):
                names = [name if isinstance(name, str) else "" for name in node[::2]]
                waiting += zip(names, node[1::2], strict=False)
            else:
                waiting += [("", item) for item in node]


def _pairs_of_item(text: str, sign: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of "NAME=value", as an item of a list has it, or "NAME: value" of a line."""
    name, found, value = text.partition(sign)
    if found:
        yield name.strip().strip("\"'"), value.strip().strip("\"'")


def _parser_of(file: str) -> Parser:
    return parse_compose_file if file.lower().endswith((".yml", ".yaml", ".json")) else parse_env_file


def find_defaults(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and defaults of references in a Compose file, `${NAME:-default}`."""
    for match in _DEFAULT.finditer(text):
        yield match.group(1), match.group(2)


def _is_closed(line: str, quote: str) -> bool:
    return quote in line.replace(f"\\{quote}", "")


def find_secrets_in_model(resolved: ResolvedModel) -> frozenset[str]:
    """Return the values under secret names in a resolved project: variables, environments, labels, options, any key.

    A variable that a Compose secret takes its value from counts whatever its name.
    """
    secret_variables = {
        secret.get("environment")
        for secret in (resolved.model.get("secrets") or {}).values()
        if isinstance(secret, dict)
    }
    as_secrets = [("secret", value) for name, value in resolved.variables if name in secret_variables]
    return find_secrets([*resolved.variables, *as_secrets, *_pairs_of(resolved.model)])


def _pairs_of(model: Any) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for every string in a model; items of lists have the key ""."""
    pending: list[tuple[str, Any]] = [("", model)]
    while pending:
        key, value = pending.pop()
        if isinstance(value, dict):
            pending += value.items()
        elif isinstance(value, list):
            pending += [("", item) for item in value]
        elif isinstance(value, str):
            yield key, value
