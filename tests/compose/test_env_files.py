"""Promise: what env files and defaults hold is known before Compose is asked, from files that may be read."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bcon_exporter.compose import ComposeOptions
from bcon_exporter.compose.env_files import EnvFiles, find_defaults, parse_env_file
from bcon_exporter.compose.invocation import parse_variables
from bcon_exporter.compose.involved_files import ResolutionRequest
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import ComposeIdentity
from tests.table_rows import table

PASSWORD, OTHER = "Qx7" + "rT9vLm2p", "Hj6" + "tR2mXq9s"


def claim(folder: Path, **parts: object) -> ComposeIdentity:
    return ComposeIdentity(project="shop", service="web", working_dir=str(folder), **parts)  # type: ignore[arg-type]


def learned(folder: Path, options: ComposeOptions, **parts: object) -> str:
    book = HostSecrets()
    EnvFiles(options, book).learn([claim(folder, **parts)])
    return book.of_project("shop").hide(PASSWORD)


@table(
    "line",
    [
        *(f"DB_PASSWORD={PASSWORD}", f" export DB_PASSWORD = {PASSWORD} ", f"DB_PASSWORD={PASSWORD} # a comment"),
        *(f'DB_PASSWORD="{PASSWORD}" # a comment', f"DB_PASSWORD='{PASSWORD}'", f"A=1\n\n#x\nDB_PASSWORD={PASSWORD}"),
        *(
            f'DB_PASSWORD="first\n{PASSWORD}\nlast"',
            f'DB_PASSWORD="open\n{PASSWORD}',
            f'A="x"\nDB_PASSWORD={PASSWORD}\r\n',
        ),
        f"URL=https://u:{PASSWORD}@h/",
    ],
)
def test_the_secrets_of_dot_env_are_known(line: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(line)
    assert learned(tmp_path, ComposeOptions(trusted=True)) == "***"


def test_escapes_are_read_in_both_ways() -> None:
    values = {value for _, value in parse_env_file('TOKEN="a\\"b\\nc$d" # e')}
    assert {'a\\"b\\nc$d', 'a"b\nc$d'} <= values


def test_env_files_that_up_was_given_and_that_of_the_settings_are_read(tmp_path: Path) -> None:
    for name in ("given.env", "extra.env"):
        (tmp_path / name).write_text(f"DB_PASSWORD={PASSWORD}\n")
    given = {"environment_files": (str(tmp_path / "given.env"),)}
    assert learned(tmp_path, ComposeOptions(trusted=True), **given) == "***"
    assert learned(tmp_path, ComposeOptions(env_file=tmp_path / "extra.env")) == "***"


def test_defaults_of_references_are_known(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(f"services: {{web: {{command: 'x ${{DB_PASSWORD:-{PASSWORD}}}'}}}}\n")
    files = {"config_files": (str(tmp_path / "compose.yaml"),)}
    assert learned(tmp_path, ComposeOptions(trusted=True), **files) == "***"
    assert list(find_defaults("${A:-b} ${C-d} ${E:+f} ${G} $${H:-i}")) == [
        ("A", "b"),
        ("C", "d"),
        ("E", "f"),
        ("H", "i"),
    ]


def test_the_daemon_reads_no_file_outside_of_the_roots(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / ".env").write_text(f"DB_PASSWORD={PASSWORD}\n")
    assert learned(inside, ComposeOptions(roots=(inside,))) == "***"
    assert learned(outside, ComposeOptions(roots=(inside,))) == PASSWORD
    assert learned(outside, ComposeOptions()) == PASSWORD
    (inside / ".env").unlink()
    (inside / ".env").symlink_to(outside / ".env")
    assert learned(inside, ComposeOptions(roots=(inside,))) == PASSWORD


def test_an_error_of_compose_shows_nothing_of_the_files_that_it_may_read_nor_tells_what_others_hold(
    tmp_path: Path,
) -> None:
    (tmp_path / ".env").write_text(f"DB_PASSWORD={PASSWORD}\n")
    request = ResolutionRequest(files=(tmp_path / "compose.yaml",), env_files=(), directory=tmp_path)
    reader = EnvFiles(ComposeOptions(environ={"API_TOKEN": OTHER}), HostSecrets())

    def shown(roots: tuple[Path, ...] | None) -> str:
        return reader.secrets_of(replace(request, roots=roots)).hide(f"{PASSWORD} {OTHER}")

    assert shown(None) == shown((tmp_path,)) == "*** ***"
    assert shown((tmp_path / "elsewhere",)) == f"{PASSWORD} ***"


@pytest.mark.parametrize("kind", ["absent", "fifo", "directory", "large", "binary"])
def test_what_is_no_env_file_is_no_failure(kind: str, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "directory":
        file.mkdir()
    elif kind != "absent":
        file.write_bytes(bytes(range(256)) * (10 if kind == "binary" else 4097))
    assert learned(tmp_path, ComposeOptions(trusted=True)) == PASSWORD


def test_a_changed_file_is_read_again_and_the_old_value_stays_known(tmp_path: Path) -> None:
    book = HostSecrets()
    files = EnvFiles(ComposeOptions(trusted=True), book)
    for value in (PASSWORD, PASSWORD[::-1]):
        (tmp_path / ".env").write_text(f"DB_PASSWORD={value}\n#{value}{value}\n"[: 60 if value == PASSWORD else 50])
        files.learn([claim(tmp_path)])
    assert book.of_project("shop").hide(f"{PASSWORD} {PASSWORD[::-1]}") == "*** ***"
    version = book.version
    files.learn([claim(tmp_path)])
    assert book.version == version


def test_lines_without_a_name_belong_to_the_value_before_them() -> None:
    assert list(parse_variables("A=1\nB=x\ny z\n=w\nC=\n"))[1:] == [("A", "1"), ("B", "x\ny z\n=w"), ("C", "\n")]
