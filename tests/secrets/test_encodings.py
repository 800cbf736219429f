r"""Promise: a known secret is hidden in each usual encoding, and a named one also where its name is written with escapes."""

from __future__ import annotations

import base64
import random
import time
import uuid

import pytest

from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import mask_text
from tests.secrets.encodings import CANARIES, ENCODINGS, is_whole


@pytest.mark.promise("S14")
def test_a_known_secret_is_hidden_in_each_encoding() -> None:
    secrets = KnownSecrets(frozenset(CANARIES))
    leaks = []
    for name, encode in ENCODINGS.items():
        written = [(value, encode(value)) for value in CANARIES if is_whole(value, encode(value))]
        assert len(written) > len(CANARIES) * 3 // 4, name
        text = "\n".join(f"ERROR at /x: <{text}> failed, retrying in 5 s" for _, text in written)
        hidden = secrets.hide(text)
        lines = iter(hidden.split("\n"))
        for value, encoded in written:
            shown = "\n".join(next(lines) for _ in encoded.split("\n"))
            pieces = [piece for piece in encoded.replace("\\\n", "\n").split() if len(piece) > 3]
            if "***" not in shown or any(piece in shown for piece in pieces):
                leaks.append(f"{name}: {value!r}: {shown!r}")
        assert secrets.hide(hidden) == hidden, name
        assert hidden.count("\n") == text.count("\n"), name
    assert not leaks, "\n".join(leaks[:20])


@pytest.mark.promise("S14")
def test_every_split_of_a_secret_over_lines_is_hidden() -> None:
    value = "Cnry" + "Qx7rT9vLm2pW"
    secrets = KnownSecrets(frozenset({value}))
    for at in range(1, len(value)):
        shown = secrets.hide(f"key {value[:at]}\n{value[at:]} end Q x7\nCnr y")
        assert shown == "key ***\n*** end Q x7\nCnr y", at
    assert secrets.hide(f"a {value[:5]}\n{value[5:10]}\n{value[10:]}.") == "a ***\n***\n***."
    assert secrets.hide_lines(["x", f"a {value[:5]}", f"{value[5:]} b"]) == ["x", "a ***", "*** b"]


@pytest.mark.promise("S14")
def test_in_much_text_the_same_is_hidden_as_in_little() -> None:
    """Of much text only lines are searched exactly in which a quick look sees a beginning or an escape."""
    secrets = KnownSecrets(frozenset(CANARIES))
    clean = ["nothing to see in this line, nor behind it"] * 120
    differences = []
    for name, encode in ENCODINGS.items():
        for value in (*CANARIES[:40:4], *CANARIES[1:10]):
            written = f"at <{encode(value)}> it failed"
            expected = secrets.hide(written).split("\n")
            if secrets.hide_lines([*clean, *written.split("\n"), *clean]) != [*clean, *expected, *clean]:
                differences.append(f"{name}: {value!r}")
    value = CANARIES[1]
    for at in range(1, len(value)):
        for wrap in ("\n", "\\\n", "  \\\n\t ", f"\n{value[at : at + 5]}\n" if at + 5 < len(value) else "\n"):
            rest = value[at + 5 :] if wrap.count("\n") == 2 else value[at:]
            written = f"{value[:at]}{wrap}{rest}"
            expected = secrets.hide(written).split("\n")
            assert "***" in expected[0], written
            if secrets.hide("\n".join([*clean, written, *clean])).split("\n") != [*clean, *expected, *clean]:
                differences.append(f"cut at {at} by {wrap!r}")
    assert not differences


def test_a_value_that_reaches_over_lines_moves_no_other_line_of_much_text() -> None:
    """Where it is hidden two lines become one, and the values below it are hidden all the same."""
    secrets = KnownSecrets(frozenset({"CnryUpper1234\nCnryLower5678", "CnryAlone9012", *CANARIES}))
    clean = ["nothing to see in this line, nor behind it"] * 120
    lines = [*clean, "a CnryUpper1234", "CnryLower5678 b", *clean, "c CnryAlone9012 d", *clean]
    assert secrets.hide("\n".join(lines)).split("\n") == [*clean, "a *** b", *clean, "c *** d", *clean]
    assert secrets.hide_lines(lines)[-len(clean) - 1] == "c *** d", "as many lines as before"


NAMED = {
    "password=\\\nCnryA1b2": "password=\\\n***",
    "password=CnryA1\\\nb2C3d4 tail": "password=***\n*** tail",
    "mysql --password \\\n  CnryA1b2 \\\n  -h db": "mysql --password \\\n  *** \\\n  -h db",
    "-e DB_PASSWORD=\\\n'Cnry A1 b2' x": "-e DB_PASSWORD=\\\n'***' x",
    "%7B%22password%22%3A%22CnryA1b2%22%7D failed": "%7B%22password%22%3A%22***%22%7D failed",
    "q=%2522password%2522%253A%2522CnryA1b2%2522": "q=%2522password%2522%253A%2522***%2522",
    "&quot;password&quot;: &quot;CnryA1b2&quot; failed": "&quot;password&quot;: &quot;***&quot; failed",
    "&#34;api_key&#34;:&#34;CnryA1b2&#34;": "&#34;api_key&#34;:&#34;***&#34;",
    "&amp;quot;password&amp;quot;:&amp;quot;CnryA1b2&amp;quot;": "&amp;quot;password&amp;quot;:&amp;quot;***&amp;quot;",
    r"\u0022password\u0022:\u0022CnryA1b2\u0022 x": r"\u0022password\u0022:\u0022***\u0022 x",
    r"\\u0022password\\u0022:\\u0022CnryA1b2\\u0022": r"\\u0022password\\u0022:\\u0022***\\u0022",
    r"\x22password\x22:\x22CnryA1b2\x22": r"\x22password\x22:\x22***\x22",
    "%5Cu0022password%5Cu0022%3A%5Cu0022CnryA1b2%5Cu0022": "%5Cu0022password%5Cu0022%3A%5Cu0022***%5Cu0022",
    "GET /x?token%3DCnryA1b2 200": "GET /x?token%3D*** 200",
}


@pytest.mark.promise("S14")
@pytest.mark.parametrize("text", NAMED)
def test_a_secret_whose_name_is_written_with_escapes_is_masked(text: str) -> None:
    assert mask_text(text) == NAMED[text]
    assert mask_text(NAMED[text]) == NAMED[text]


def healthy_texts() -> list[str]:
    """Text that looks encoded and holds nothing: digests, ids, addresses, escapes, wrapped lines."""
    generator = random.Random(7)
    made = []
    for number in range(60):
        digest = f"{generator.getrandbits(256):064x}"
        blob = base64.b64encode(generator.randbytes(60)).decode()
        made += [
            f"sha256:{digest} pulled in {number} ms",
            f"request {uuid.UUID(int=generator.getrandbits(128))} done",
            f"GET /search?q=%22token%20expired%22&page={number}&next=%2Fa%2Fb%3Fx%3D1 200",
            f"&lt;a href=&quot;/p/{number}&quot;&gt;password reset&lt;/a&gt;",
            rf'{{"msg":"\u0022retry {number}\u0022 after \u001b[31mtoken refresh\u001b[0m"}}',
            f"cc -O2 \\\n  -o build/{number} \\\n  main.c",
            f"integrity sha512-{blob}",
            f"commit {digest[:40]}\nAuthor: bob\n\n    fix the password%20form",
        ]
    return made


@pytest.mark.promise("S14")
def test_healthy_text_stays_as_it_is() -> None:
    texts = healthy_texts()
    secrets = KnownSecrets(frozenset(CANARIES))
    changed = [text for text in texts if secrets.hide(text) != text or mask_text(text) != text]
    assert len(texts) >= 400
    assert len(changed) <= len(texts) // 100, changed[:10]


HOSTILE = {
    "escapes": "%41" * 20_000,
    "escapes of escapes": "%" + "25" * 30_000 + "41",
    "backslashes": "\\" * 60_000,
    "ampersands": "&amp;" * 12_000,
    "numbers": "&#000" * 12_000,
    "hex": "ab" * 30_000,
    "short lines": "Cnry\n" * 12_000,
    "names with escapes": "password%22%3A%22x" * 4_000,
    "continued names": "password=\\\n" * 6_000,
}


@pytest.mark.promise("S14")
def test_lines_that_all_might_be_halves_are_bounded() -> None:
    """Behind very many, both lines are hidden: none is compared any more."""
    secrets = KnownSecrets(frozenset(CANARIES))
    shown = secrets.hide("Cnry\n" * 800).split("\n")
    assert shown[:3] == ["Cnry"] * 3
    assert shown[-3:] == ["***", "***", ""]
    assert set(shown) == {"Cnry", "***", ""}


@pytest.mark.promise("S14")
def test_hostile_text_takes_time_linear_in_its_length() -> None:
    secrets = KnownSecrets(frozenset(CANARIES))
    secrets.hide("first")
    slow = {}
    for kind, text in HOSTILE.items():
        started = time.process_time()
        secrets.hide(text[: 256 * 1024])
        mask_text(text[: 256 * 1024])
        if (seconds := time.process_time() - started) > 2:
            slow[kind] = seconds
    assert not slow
