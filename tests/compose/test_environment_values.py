"""Promise: of a Compose or env file no value of a variable is shown, however it is written; keys and lines stay."""

from __future__ import annotations

import time

import pytest

from bcon_exporter.compose import hide_environment

SHOP = """\
name: shop
x-env: &env {A: canary, B: [canary]}
x-one: &one canary
x-list: &list
- Q=canary
services:
  web: # stays
    image: app:1 # stays
    environment: # A=canary
      <<: [*env, {C: canary}]
      # D: canary
      MODE: canary # canary
      "QUOTED": "canary
         canary"
      BLOCK: |
        canary
        # canary
      TAGGED: !!str canary
      V: *one
      EMPTY:
      # E: canary
    build: {context: ., args: [X=canary, 'Y=canary', "Z"]}
    labels: {stays: here}
  db:
    environment:
      # A=canary
    command: stays
  job:
    environment:
    - A=canary
    - PASSED_ON
    - "B=canary"
    - canary with blanks
    - C: canary
    - |-
      D=canary
      canary
    post_start: [{command: stays, environment: {K: canary, L: {canary: canary}}}]
  other: {environment: *list, user: stays}
secrets: {s: {environment: NAME}}
"""


def test_no_value_of_a_compose_file_is_shown_and_all_else_stays() -> None:
    hidden = hide_environment(SHOP, "compose.yaml")
    assert hidden.is_certain
    assert "canary" not in hidden.text
    before, after = SHOP.split("\n"), hidden.text.split("\n")
    assert len(before) == len(after)
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert all("canary" in old or old.endswith(("|", "|-")) for old, _ in changed)
    assert {"      MODE: *** # ***", "    - A=***", "    - PASSED_ON", "      V: *one", "x-one: ***"} <= set(after)
    assert '    build: {context: ., args: [X=***, \'Y=***, "Z"]}' in after
    assert hide_environment(hidden.text, "compose.yaml").text.count("***") >= hidden.text.count("***")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("MODE=canary", "MODE=***"),
        (" export MODE = canary # canary", " export MODE = ***"),
        ("MODE: canary", "MODE: ***"),
        ("# OLD=canary", "# ***"),
        ("canary", "***"),
        ("MODE=", "MODE="),
        ("", ""),
        ('A="x\nB=canary\ny"\nC=d', "A=***\n***\n***\nC=***"),
        ("A='x\\'\nB=canary'\nC=d", "A=***\n***\nC=***"),
        ("A=\udcff$b", "A=***"),
        ('A="never closed\nB=canary', "A=***\n***"),
    ],
)
def test_an_env_file_has_its_keys_alone(line: str, shown: str) -> None:
    for name in (".env", "web.env", "settings"):
        assert hide_environment(line, name).text == shown


BOMB = "x: &a0 [l, l]\n" + "".join(f"x{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))

UNREADABLE = {
    "no YAML": "services:\n  web:\n   environment:\n     A: canary\n  b: }\n c: canary\n",
    "a tab": "services:\n\tweb: canary\n",
    "an alias to nothing": "services: {web: {environment: *none, image: canary}}\n",
    "too deep": "services:\n  web: canary\nx: " + "[" * 200 + "]" * 200,
    "too many directives": "%TAG ! x\n" * 40 + "---\nservices: {web: canary}\n",
    "control characters": "services:\n  web: canary\x00\n",
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_of_what_cannot_be_read_no_value_is_shown(kind: str) -> None:
    hidden = hide_environment(UNREADABLE[kind], "compose.yaml")
    assert not hidden.is_certain
    assert "canary" not in hidden.text
    assert hidden.text.count("\n") == UNREADABLE[kind].count("\n")


@pytest.mark.parametrize("name", ["docker-compose", "stack.tmpl", "/srv/shop"])
def test_a_compose_file_is_known_by_its_keys_where_its_name_says_nothing(name: str) -> None:
    assert hide_environment(SHOP, name) == hide_environment(SHOP, "compose.yaml")
    assert hide_environment("MODE: canary\nservices: canary\n", name).text == "MODE: ***\nservices: ***\n"


@pytest.mark.parametrize(
    "text",
    [
        BOMB + "services: {web: {environment: *a39}}\n",
        "services: {" + ", ".join(f"s{n}: {{environment: {{A: c}}}}" for n in range(2000)) + "}",
        "services:\n  web:\n    environment:\n" + "      A: b # c\n" * 5000,
        "A='\n" * 20_000,
        "#" * 220_000,
        "services:\n  web:\n    environment:\n      A: b " + "#" * 220_000,
    ],
    ids=["aliases", "flow", "comments", "quotes", "marks", "long comment"],
)
def test_the_time_is_linear_in_the_text(text: str) -> None:
    started = time.process_time()
    for name in ("compose.yaml", ".env"):
        hide_environment(text, name)
    assert time.process_time() - started < 5
