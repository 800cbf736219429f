"""Promise: a secret value of an environment is hidden wherever and however it is written; plain words are not."""

import base64
import json
import subprocess
import sys
from urllib.parse import quote, quote_plus

import pytest

from bcon_exporter.secrets.known_secrets import (
    MOST_VALUES,
    NO_SECRETS,
    KnownSecrets,
    environment_pairs,
    find_secrets,
    is_plain_word,
)
from bcon_exporter.secrets.masking import mask_pair
from tests.secrets.plain_words import ORDINARY_TEXTS, PLAIN_WORDS
from tests.table_rows import table

PASSWORD = "Qx7" + "rT9vLm2p"
HARD = "p$ss w/rd+\"ü'é&=%" + "9Zk"


def known(*values: str) -> KnownSecrets:
    return KnownSecrets(frozenset(values))


@pytest.mark.parametrize(
    "key",
    ["DB_PASSWORD", "API_KEY", "JWT_SECRET", "GITHUB_TOKEN", "POSTGRES_PASS", "session-pwd", "com.example.secret"],
)
def test_a_value_under_a_secret_name_is_hidden(key: str) -> None:
    values = find_secrets([(key, PASSWORD), ("LEVEL", "debug")])
    assert values == {PASSWORD}
    assert KnownSecrets(values).hide(f"tried {PASSWORD}, then x{PASSWORD}y!") == "tried ***, then x***y!"


def test_the_corpus_of_plain_words_is_large_enough() -> None:
    assert len(set(PLAIN_WORDS)) >= 80


@table("word", PLAIN_WORDS)
def test_a_plain_word_is_masked_under_its_own_name_only(word: str) -> None:
    assert is_plain_word(word)
    assert find_secrets([("DB_PASSWORD", word)]) == frozenset()
    if word not in ("true", "TRUE", "none", "None"):
        assert word not in mask_pair("DB_PASSWORD", word)


def test_ordinary_text_stays_as_it_is_beside_all_plain_words() -> None:
    secrets = KnownSecrets(find_secrets(("DB_PASSWORD", word) for word in PLAIN_WORDS))
    for text in (*ORDINARY_TEXTS, *PLAIN_WORDS):
        assert secrets.hide(text) == text


@table(
    "value",
    [
        *("s3cret", "hunter2!", "P@ssw0rd", "oldpassword1", "correct-horse-battery-staple", "a1b2", "$2b$10$abcdefgh"),
        *(
            "supersecretpassword",
            "3f2a9bc4",
            "4111111111111111",
            "Tr0ub4dor&3",
            "7b1c2d",
            "geheim-42-x",
            "pässwörd",
        ),
    ],
)
def test_what_is_no_plain_word_is_hidden(value: str) -> None:
    assert KnownSecrets(find_secrets([("DB_PASSWORD", value)])).hide(f"(tried {value})") == "(tried ***)"


@pytest.mark.parametrize(
    "entry", ["DB_PASSWORD_FILE=/run/secrets/Db_Password1", "RELEASE=Qx7rT9vLm2p", "API_KEY", "TOKEN="]
)
def test_values_under_other_names_stay(entry: str) -> None:
    assert find_secrets(environment_pairs([entry])) == frozenset()


def test_a_weak_name_is_one_of_a_secret_where_its_value_looks_random() -> None:
    assert find_secrets([("AUTH", "Passwords-Only"), ("SALT", PASSWORD)]) == {PASSWORD}


@table(
    "form",
    [
        json.dumps(["--password", HARD]),
        json.dumps(["--password", HARD], ensure_ascii=False),
        f"https://bob:{quote(HARD, safe='')}@h/",
        f"https://bob:{quote(HARD)}@h/",
        f"https://bob:{quote(HARD, safe='$&+,;=')}@h/",
        f"token={quote_plus(HARD)}&x=1",
        "command: " + HARD.replace("$", "$$"),
        *(f"Basic {base64.b64encode(f'{user}:{HARD}'.encode()).decode()}" for user in ("a", "ab", "abc")),
        f"jwt {base64.urlsafe_b64encode(f'{HARD} and more'.encode()).decode()}",
    ],
)
def test_a_value_is_hidden_in_every_form_that_text_gives_it(form: str) -> None:
    hidden = known(HARD).hide(form)
    assert "***" in hidden
    assert "9Zk" not in hidden
    assert not any(part in hidden for part in (HARD, "w/rd", "w%2F", base64.b64encode(HARD[3:9].encode()).decode()))


def test_each_line_of_a_long_value_is_hidden_and_the_longest_first() -> None:
    values = find_secrets([("SSH_PRIVATE_KEY", f"{PASSWORD}{PASSWORD}\n{PASSWORD}longer\nshort1\n")])
    assert values == {PASSWORD * 2, f"{PASSWORD}longer"}
    assert known(PASSWORD, f"{PASSWORD}longer").hide(f"{PASSWORD}longer") == "***"


def test_a_value_longer_than_a_piece_is_hidden_whole() -> None:
    value = "".join(f"{n:04d}Zq" for n in range(2000))
    hidden = KnownSecrets(find_secrets([("TOKEN", value)])).hide(f"got {value} today")
    assert hidden.replace("*", "") == "got  today" or len(hidden) < 40
    assert "Zq" not in hidden


@pytest.mark.parametrize(
    "value", ["postgres://app:Qx7rT9vLm2p@db/shop", "amqp://u:Qx7rT9vLm2p@h,amqp://v:x@h", "u:Qx7rT9vLm2p@h"]
)
def test_the_password_of_a_url_is_a_secret_under_any_name(value: str) -> None:
    assert find_secrets([("DATABASE_URL", value)]) == {PASSWORD}


def test_the_password_of_a_url_is_known_as_it_is_unescaped() -> None:
    assert find_secrets([("LINK", f"https://u:{quote(HARD, safe='')}@h/")]) == {HARD}


def test_a_short_value_is_hidden_as_a_whole_word_only() -> None:
    assert known("a1b2").hide("pin a1b2, digest 77a1b2c3") == "pin ***, digest 77a1b2c3"


def test_no_value_is_one_too_many() -> None:
    values = find_secrets((f"TOKEN_{n}", f"aB3defgh{n}xyz") for n in range(MOST_VALUES))
    assert KnownSecrets(values).hide(f"tried aB3defgh{MOST_VALUES - 1}xyz") == "tried ***"


def test_with_more_values_than_can_be_searched_nothing_is_shown() -> None:
    values = find_secrets((f"TOKEN_{n}", f"aB3defgh{n}xyz") for n in range(MOST_VALUES + 1))
    assert KnownSecrets(values).hide("anything") == "***"
    assert KnownSecrets(frozenset("x" * 300_000 + str(n) for n in range(2))).hide("anything") == "***"


MANY = frozenset(f"aB3{number:04d}-" + "xYz9" * 10 for number in range(400))
"""More than are searched at once."""
SOME = frozenset(f"aB3{number:02d}-xYz9" for number in range(10))
"""With those of one value more than are looked for one by one."""
MUCH = "\n" + " " * 2**20
"""So much text that all are searched at once."""


@pytest.mark.parametrize("value", ["a1b2", "7b1c2d", "4111111111111111", "_x9y_", "+f0o+", PASSWORD, HARD])
def test_a_value_is_found_among_many_as_among_few_in_little_text_as_in_much(value: str) -> None:
    forms = (value, json.dumps(value)[1:-1], quote_plus(value), value.replace("$", "$$"))
    encoded = (base64.b64encode(f"{before}{value}:x".encode()).decode() for before in ("", "u:", "us:"))
    for text in (*(edge.format(form) for form in forms for edge in ("{0}", "x{0}", "{0}9", "-{0}-{0}=")), *encoded):
        assert KnownSecrets(MANY | {value}).hide(text) == known(value).hide(text)
        assert KnownSecrets(SOME | {value}).hide(text + MUCH) == known(value).hide(text) + MUCH
    assert KnownSecrets(MANY | {value}).hide(f"{min(MANY)} {value}") == "*** ***"


PEAK = """
def peak():  # of this program: what getrusage tells may be that of the one that started it
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
"""
FILLS = """
import json, random, string
from urllib.parse import quote
from bcon_exporter.secrets.known_secrets import KnownSecrets

random.seed(1)
values = ["".join(random.choices(string.ascii_letters + string.digits + string.punctuation, k=500)) for _ in range(500)]
known = KnownSecrets(frozenset(values))
assert not known.too_many
before = peak()
assert known.hide("some words " * 20_000).startswith("some")
for form in (str, quote, lambda value: json.dumps(value)[1:-1]):
    assert len(known.hide("\\n".join(map(form, values)))) < 5000
print(peak() - before)
"""


@pytest.mark.integration
def test_to_hide_as_much_as_one_environment_may_hold_takes_little_memory() -> None:
    """What an expression remembers of its text lies outside of what Python counts: it was 1.4 GB."""
    done = subprocess.run([sys.executable, "-c", PEAK + FILLS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 * 1024, "KiB"


OF_MANY_CONTAINERS = """
from bcon_exporter.secrets.known_secrets import KnownSecrets

text, log = "some words " * 500, "some words " * 3000
before = peak()
kept = []
for project in range(100):
    held = [f"aB3{project:04d}-{number:02d}-xYz9Qw" for number in range(25)]
    for number in range(25):
        kept.append(KnownSecrets(frozenset(held[: number + 1])))
        assert kept[-1].hide(text) == text
    assert kept[-1].hide(log) == log
print(peak() - before)
"""


@pytest.mark.integration
def test_what_thousands_of_containers_hold_takes_little_memory_also_while_their_projects_are_learned() -> None:
    """It was 1 GB for 5,000 containers in projects of 25."""
    done = subprocess.run([sys.executable, "-c", PEAK + OF_MANY_CONTAINERS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 28 * 1024, "KiB"


MANY_EXPRESSIONS = """
from bcon_exporter.secrets.suspect_lines import find_suspect_lines

before = peak()
for container in range(1000):
    held = frozenset(f"aB3{container:04d}-{number:02d}-xYz9Qw" for number in range(25))
    assert find_suspect_lines(["some words"], held) == []
print(peak() - before)
"""


@pytest.mark.integration
def test_of_the_expressions_of_many_containers_the_newest_are_kept() -> None:
    """All of them take 30 MB, those that are kept 7."""
    done = subprocess.run([sys.executable, "-c", PEAK + MANY_EXPRESSIONS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 16 * 1024, "KiB"


def test_hiding_is_idempotent_and_cheap_without_secrets() -> None:
    text = f"tried {PASSWORD}"
    once = known(PASSWORD).hide(text)
    assert known(PASSWORD).hide(once) == once
    assert NO_SECRETS.hide(text) is text


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        (f"{PASSWORD}/{PASSWORD}:{PASSWORD}", f"{PASSWORD}/{PASSWORD}:***"),
        (f"localhost:5000/{PASSWORD}", f"localhost:5000/{PASSWORD}"),
        (f"app@sha256:{PASSWORD}", f"app@sha256:{PASSWORD}"),
        ("busybox:1.36", "busybox:1.36"),
    ],
)
def test_an_image_shows_its_name_and_never_a_secret_tag(reference: str, shown: str) -> None:
    assert known(PASSWORD).hide_tag(reference) == shown


def test_the_values_are_neither_printed_nor_pickled() -> None:
    assert PASSWORD not in repr(known(PASSWORD))
    with pytest.raises(TypeError, match="memory"):
        known(PASSWORD).__reduce__()


def test_an_odd_environment_is_no_failure() -> None:
    odd: list[object] = [
        None,
        7,
        {},
        "\udc80_KEY=" + PASSWORD,
        "=x",
        "TOKEN=" + "aB3" * 5000,
        "A=u:\udc80@h",
        "U=://@:@://",
    ]
    assert KnownSecrets(find_secrets(environment_pairs(odd))).hide("text") == "text"


def test_the_folder_of_the_shell_is_no_secret_though_it_is_called_pwd() -> None:
    folder = "/home/joe4/projects/shop-2"
    assert find_secrets([("PWD", folder)]) == frozenset()
    assert find_secrets([("DB_PWD", folder), ("PWD", "x7Kq-2rtY")]) == {folder, "x7Kq-2rtY"}
