"""The command `notes`: what people know, told to the daemon. Only it writes its state."""

import json
from typing import Any

from bcon_exporter.cli.daemon_client import NOTES_PATH, ask_daemon
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import Screen, write_out
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.notes import NoteAbout, NoteLine, NotesReport, WrittenNote
from bcon_exporter.model.quantities import show_time

_DONE = {"approve": "approved", "refuse": "refused", "remove": "removed"}
_SUBJECTS = tuple(NoteAbout.model_fields)


def notes(call: Invocation) -> int:
    """List notes, add one, or approve, refuse or remove some.

    Raises:
        SettingsError: A word is missing or one too many.
    """
    given = call.arguments
    if given.action != "add" and (given.about or given.expires is not None):
        msg = "--about and --expires are for notes add"
        raise SettingsError(msg, {"flag": "--about" if given.about else "--expires"})
    if given.action == "list":
        return _list(call)
    return _add(call) if given.action == "add" else _decide(call)


def _list(call: Invocation) -> int:
    if call.arguments.words:
        msg = "notes list: takes no more words"
        raise SettingsError(msg, {"argument": "list"})
    result = ask_daemon(call, "GET", NOTES_PATH)
    screen = Screen(call.arguments.format)
    if call.arguments.format == "json":
        screen.write(json.dumps({"result": result}, ensure_ascii=False) + "\n")
    else:
        screen.show_value(NotesReport.model_validate(result))
    return Exit.FINE


def _add(call: Invocation) -> int:
    given = call.arguments
    if not given.words:
        msg = 'notes add: say what you know (notes add "exits with 3 every Sunday, harmless")'
        raise SettingsError(msg, {"argument": "add"})
    payload: dict[str, Any] = {"text": " ".join(given.words), "about": _read_about(given.about)}
    if given.expires is not None:
        payload["expires"] = given.expires
    result = ask_daemon(call, "POST", NOTES_PATH, payload)
    note = WrittenNote.model_validate(result)
    told = f"{note.id} about {note.about.in_words()}, until {show_time(note.expires_at)}: {note.next_step}"
    return _tell(call, [result], [told])


def _decide(call: Invocation) -> int:
    given = call.arguments
    if not given.words:
        msg = f"notes {given.action}: name the note (notes {given.action} n1)"
        raise SettingsError(msg, {"argument": given.action})
    results, told = [], []
    for note_id in given.words:
        if not (note_id.isascii() and note_id.isalnum()):
            msg = f"notes {given.action}: a note's id is n and a number"
            raise SettingsError(msg, {"argument": given.action})
        result = ask_daemon(call, "POST", f"{NOTES_PATH}/{note_id}/{given.action}", {})
        note = NoteLine.model_validate(result)
        results.append(result)
        told.append(f"{note.id} about {note.about.in_words()} is {_DONE[given.action]}")
    return _tell(call, results, told)


def _read_about(words: list[str]) -> dict[str, str] | None:
    """Return what `container=web` and the like name; None for nothing.

    Raises:
        SettingsError: It is none, or one is named twice.
    """
    about: dict[str, str] = {}
    for word in words:
        kind, equals, name = word.partition("=")
        if not equals or not name or kind not in _SUBJECTS or kind in about:
            msg = f"--about: write each once as {', '.join(f'{one}=NAME' for one in _SUBJECTS)}"
            raise SettingsError(msg, {"flag": "--about"})
        about[kind] = name
    return about or None


def _tell(call: Invocation, results: list[object], lines: list[str]) -> int:
    if call.arguments.format == "json":
        for result in results:
            write_out(json.dumps({"result": result}, ensure_ascii=False) + "\n")
    else:
        write_out("".join(f"{one}\n" for one in lines))
    return Exit.FINE
