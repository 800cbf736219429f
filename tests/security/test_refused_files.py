"""Promise: what a Compose file holds as a secret is known from its text, also where Compose refuses the file."""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.cli.check_command import make_ci_report
from bcon_exporter.cli.report_formats import CHECK_FORMATS, write_report
from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.compose.env_files import parse_compose_file
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.secrets.known_secrets import find_secrets
from bcon_exporter.secrets.masking import Sealer
from bcon_exporter.tools import run_tool
from bcon_exporter.tools.check import CHECK
from tests.factories import snapshot
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from pathlib import Path

WEB = "services:\n  web:\n    image: bb:1\n    volumes: ['./SECRET:/d']\n    env_file: [absent.env]\n"
REFUSED = {
    "a map": {"compose.yaml": WEB + "    environment: {DB_PASSWORD: 'SECRET'}\n"},
    "a list": {"compose.yaml": WEB + "    environment: ['DB_PASSWORD=SECRET']\n"},
    "an anchor": {"compose.yaml": "x-all: &all {DB_PASSWORD: 'SECRET'}\n" + WEB + "    environment: *all\n"},
    "a URL": {"compose.yaml": WEB + "    environment: {LINK: 'https://u:SECRET@h/'}\n"},
    ".env": {"compose.yaml": WEB.replace("SECRET", "${DB_PASSWORD}"), ".env": "DB_PASSWORD=SECRET\n"},
    "a default": {"compose.yaml": WEB.replace("SECRET", "${DB_PASSWORD:-SECRET}")},
    "an env file of a service": {
        "compose.yaml": WEB.replace("[absent.env]", "[absent.env, web.env]"),
        "web.env": "DB_PASSWORD=SECRET\n",
    },
    "an included file": {
        "compose.yaml": "include: [more.yaml]\n" + WEB,
        "more.yaml": "services: {more: {image: x, environment: {DB_PASSWORD: 'SECRET'}}}\n",
    },
    "an override": {
        "compose.yaml": WEB,
        "compose.override.yaml": "services: {web: {environment: {DB_PASSWORD: 'SECRET'}}}\n",
    },
    "a network that is not there": {
        "compose.yaml": WEB + "    networks: ['SECRET']\n    environment: {DB_PASSWORD: 'SECRET'}\n",
    },
    "an env file in a path": {
        "compose.yaml": WEB.replace("absent.env", "SECRET/absent.env") + "    environment: {DB_PASSWORD: 'SECRET'}\n",
    },
    "no YAML": {"compose.yaml": WEB + "    environment:\n      DB_PASSWORD: 'SECRET'\n   wrong: ['SECRET'\n"},
}


@pytest.mark.promise("S9")
@pytest.mark.integration
def test_no_format_shows_what_a_file_holds_that_compose_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = HostSecrets()
    options = ComposeOptions(binary=find_binary(os.environ["PATH"]), environ={"PATH": os.environ["PATH"]}, trusted=True)
    reader = ComposeReader(options, Sealer(b"k" * 32), book)
    context = replace(context_of(snapshot(networks=(), volumes=())), compose=reader, secrets=book, one_shot=True)
    leaks = []
    for number, (kind, files) in enumerate(REFUSED.items()):
        folder, secret = tmp_path / f"p{number}", f"Cnry{number}Chk1Aa9x"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text.replace("SECRET", secret))
        monkeypatch.chdir(folder)
        envelope = run_tool(context, CHECK, {})
        assert envelope.error is None, kind
        assert envelope.value.verdict == "fails", kind
        for form in CHECK_FORMATS:
            write_report(form, (), envelope.value, functools.partial(make_ci_report, envelope.value, "fails"))
            shown = capsys.readouterr().out
            assert shown, (kind, form)
            leaks += [f"{kind}: {form}"] if secret in shown else []
    assert len(CHECK_FORMATS) == 6
    assert not leaks, "\n".join(leaks)


@pytest.mark.parametrize(
    "text",
    [
        "a: {DB_PASSWORD: hunter2-Very-9}",
        "a: [DB_PASSWORD=hunter2-Very-9]",
        "a: {args: [API_TOKEN=hunter2-Very-9]}",
        "x: &x {DB_PASSWORD: hunter2-Very-9}\na: {<<: *x}",
        "x: &x hunter2-Very-9\na: {DB_PASSWORD: *x}",
        "a: {labels: {app.secret: hunter2-Very-9}}",
        "a: ${DB_PASSWORD:-hunter2-Very-9}",
    ],
)
def test_what_a_file_holds_is_known_from_its_text(text: str) -> None:
    assert "hunter2-Very-9" in find_secrets(parse_compose_file(text))


@pytest.mark.parametrize(
    "text",
    [
        "x: &a [1, &b [*a]]\n",
        "a: &a {b: *a}\n",
        "a: {PASSWORD: 1, ? [x] : 2, PASSWORD: [x, 'y=z'], 3}\n",
        "- PASSWORD: hunter2-Very-9\n  x: [",
        "x: [\nPASSWORD=hunter2-Very-9\n",
        "[" * 500,
        "",
    ],
)
def test_any_text_is_read_without_failure(text: str) -> None:
    values = find_secrets(parse_compose_file(text))
    assert values == (frozenset({"hunter2-Very-9"}) if "hunter2" in text else frozenset())
