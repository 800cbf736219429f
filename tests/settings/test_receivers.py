"""Who gets messages is read from flags, variables and a file; addresses are secrets and stand in no error."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import SettingsError
from bcon_exporter.model.receivers import parse_receivers
from bcon_exporter.settings import add_setting_flags, list_receivers, load_settings
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.settings import Settings

SECRET = "hunter2-hunter2"
URL = f"ntfys://u:{SECRET}@h.example/topic?a=1,2"


def settings_of(*flags: str, **environ: str) -> Settings:
    parser = ArgumentParser()
    read = add_setting_flags(parser)
    return load_settings(read(parser.parse_args(flags)), environ)


def shown(settings: Settings) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(one.name, one.least.value, one.projects, one.url.get_secret_value()) for one in list_receivers(settings)]


def test_options_stand_before_their_address_and_commas_stay() -> None:
    settings = settings_of(
        "--notify.url", f"name=phone severity=critical project=shop,blog {URL}", "--notify.url", "json://h/x"
    )
    assert shown(settings) == [
        ("phone", "critical", ("shop", "blog"), URL),
        ("json-2", "error", (), "json://h/x"),
    ]


def test_a_variable_and_a_file_hold_several(tmp_path: Path) -> None:
    file = tmp_path / "receivers"
    file.write_text(f"# mine\n\nname=team {URL}\n  project=shop json://h/x\n")
    settings = settings_of(BCON_NOTIFY__URL=f"json://h/a name=mail {URL}", BCON_NOTIFY__URL_FILE=str(file))
    assert [name for name, *_ in shown(settings)] == ["json-1", "mail", "team", "json-4"]


@table(
    "text",
    [
        f"{SECRET}", f"name=phone {SECRET}", f"name= {URL}", f"nmae=phone {URL}", f"name=a name=b {URL}",
        f"{URL} name=a",
        f"severity=warning {URL}", f"severity={SECRET} {URL}", f"name={SECRET}/x {URL}", f"name={'a' * 65} {URL}",
        f"name=a {URL} name=a {URL}", "",
    ],
)  # fmt: skip
def test_what_is_written_wrong_is_refused_and_not_quoted(text: str, tmp_path: Path) -> None:
    file = tmp_path / "receivers"
    file.write_text(text or "name=phone")
    with pytest.raises(SettingsError) as refused:
        list_receivers(settings_of("--notify.url-file", str(file)))
    assert SECRET not in str(refused.value)
    assert str(file) in refused.value.message
    if text:
        with pytest.raises(SettingsError) as refused:
            settings_of("--notify.url", text)
        assert SECRET not in f"{refused.value} {refused.value.details}"
        assert refused.value.message.startswith("--notify.url: ")


def test_a_line_of_the_file_that_is_written_wrong_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "receivers"
    file.write_text(f"# mine\n\nname=team {URL}\nname=phone severty=error {URL}\n")
    with pytest.raises(SettingsError, match=r"receivers line 4: is no list of receivers"):
        list_receivers(settings_of("--notify.url-file", str(file)))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--notify\.url-file: .*nowhere"):
        settings_of("--notify.url-file", str(tmp_path / "nowhere"))


def test_neither_a_receiver_nor_the_settings_show_an_address() -> None:
    settings = settings_of("--notify.url", URL)
    assert SECRET not in repr(parse_receivers(URL)) + repr(settings) + str(settings) + settings.model_dump_json()
