"""Promise: no secret of the corpora survives masking, plain text does, and no text makes masking slow or unstable."""

import base64
import string
import subprocess
import sys

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from bcon_exporter.secrets.cleaning import MAX_INPUT_CHARS
from bcon_exporter.secrets.issuer_tokens import TOKEN_RULES
from bcon_exporter.secrets.masking import (
    MASK,
    Sealer,
    is_secret_key,
    mask_lines,
    mask_pair,
    mask_text,
    safe_name,
    safe_pair,
    safe_text,
)
from bcon_exporter.secrets.secret_names import key_strength
from bcon_exporter.secrets.shapes import MOST_MATCHES
from tests.secrets.issued_secrets import GENERATORS, make_issued
from tests.secrets.secrets_corpus import (
    ALNUM,
    B64,
    COMMON_PASSWORDS,
    ENDINGS,
    MESSAGES,
    NAMED,
    NEGATIVES,
    POSITIVES,
    make,
)
from tests.table_rows import table

ISSUED = make_issued(each=12)


@pytest.mark.parametrize("key", ["DB_PASSWORD", "SESSION", "DATABASE_URL", "team"])
def test_no_secret_is_kept_in_memory_by_masking_it(key: str) -> None:
    value = f"postgres://app:{''.join(['hunter', '2Xy9'])}@db/{key}"
    before = sys.getrefcount(value)

    masked = mask_pair(key, value)

    assert "hunter" not in masked
    assert sys.getrefcount(value) == before


def test_values_without_secrets_are_kept_but_not_for_ever() -> None:
    value = "".join(["team-", "of-the-shop"])
    before = sys.getrefcount(value)
    assert mask_pair("team", value) == value
    assert sys.getrefcount(value) > before
    for number in range(5000):
        mask_pair("team", f"team-{number}")
    assert sys.getrefcount(value) == before


def test_the_corpora_are_large_enough_to_mean_something() -> None:
    assert len(POSITIVES) >= 400
    assert len(NEGATIVES) >= 400
    assert len(ISSUED) >= 10 * len(TOKEN_RULES) >= 400


@pytest.mark.promise("S9")
def test_every_secret_of_the_corpus_is_masked() -> None:
    leaks = [text for text, secret in POSITIVES if secret in mask_text(text)]
    assert leaks == []


def test_every_kind_of_issued_secret_has_a_generator_and_names_its_source() -> None:
    assert {rule.name for rule in TOKEN_RULES} == set(GENERATORS)
    assert len({rule.name for rule in TOKEN_RULES}) == len(TOKEN_RULES)
    assert [rule.name for rule in TOKEN_RULES if not rule.source.startswith("https://")] == []


@pytest.mark.slow
@pytest.mark.promise("S9")
def test_every_issued_secret_is_masked_wherever_it_stands() -> None:
    leaks = []
    for kind, place, text, secret in ISSUED:
        masked = mask_text(text)
        half = len(secret) // 2
        if any(part in masked for part in (secret[:half], secret[half:])):
            leaks.append((kind, place, masked))
    assert leaks == []


@pytest.mark.slow
def test_masking_issued_secrets_is_stable_and_keeps_the_number_of_lines() -> None:
    for _kind, _place, text, _secret in ISSUED:
        once = mask_text(text)
        assert mask_text(once) == once
        assert once.count("\n") == text.count("\n")


@pytest.mark.promise("S9")
def test_at_most_one_plain_text_in_a_hundred_is_changed() -> None:
    changed = [text for text in NEGATIVES if mask_text(text) != text]
    assert len(changed) <= len(NEGATIVES) / 100, changed


@pytest.mark.slow
def test_masking_twice_changes_nothing_more() -> None:
    for text, _ in POSITIVES:
        once = mask_text(text)
        assert mask_text(once) == once


KEY = "PRIVATE" + " KEY-----"
NAMES_OF_SECRETS = st.sampled_from(
    (
        "password",
        "DB_PASSWORD",
        "token",
        "client_secret",
        "apiKey",
        "/run/secrets/token",
        "/srv/creds/db_password",
        "otp",
    )
)
BEFORE = st.sampled_from(("", "ERROR ", "config: ", "user=bob ", "sh: 1: ", "{", "[main] "))
BETWEEN = st.sampled_from(("=", ": ", ":", " = ", " => ", " := "))
SECRETS = st.one_of(
    st.sampled_from(COMMON_PASSWORDS),
    st.text(string.ascii_letters + string.digits + "!#$%*+-./?@^_~", min_size=6, max_size=24).filter(
        lambda text: any(c.isdigit() for c in text) and any(c.isalpha() for c in text) and "***" not in text
    ),
)


@pytest.mark.slow
@settings(max_examples=1500)
@example(before="", name="password", between="=", secret="~/000A", ending="")
@example(before="", name="password", between=": ", secret="../b/7a", ending="")
@given(BEFORE, NAMES_OF_SECRETS, BETWEEN, SECRETS, st.sampled_from(ENDINGS))
def test_no_value_passes_for_a_message_whatever_stands_behind_it(
    before: str, name: str, between: str, secret: str, ending: str
) -> None:
    head = f"{before}{name}{between}"
    assume(not _reads_as_a_message(secret, ending, between))
    assert not mask_text(f"{head}{secret}{ending}").startswith(head + secret[:6])


def _reads_as_a_message(secret: str, ending: str, between: str) -> bool:
    """ "token is invalid", "secrets: db_password: x": no reader takes the second word for a value."""
    is_name = ":" in between and ending.startswith(": ") and "_" in secret and key_strength(secret) == "strong"
    is_verb = between != "=" and secret.isalpha() and ending.strip().split(" ")[0] in {"is", "was", "expired"}
    return is_name or is_verb


@given(
    BEFORE, st.sampled_from(NAMED), st.sampled_from(MESSAGES), st.sampled_from(("", ".", " (exit 1)", ", giving up"))
)
def test_a_message_behind_the_name_of_a_secret_is_kept(before: str, name: str, message: str, ending: str) -> None:
    text = f"{before}{name}{message}{ending}"
    assert mask_text(text) == text


FRAGMENTS = st.lists(
    st.sampled_from(
        (
            *(
                "password",
                "token",
                "=",
                ":",
                " ",
                '"',
                "'",
                "\\",
                "://",
                "@",
                "u",
                "/",
                "Bearer",
                "***",
                "\n",
                "&",
                ";",
                ",",
            ),
            *(
                "password:\n",
                "name: DB_PASSWORD\n",
                "value: ",
                "--token\n",
                "[",
                "]",
                "{",
                "}",
                "app-1 | ",
                "  - ",
                "curl -u ",
                "-----BEGIN PRIVATE KEY-----",
                "-----END PRIVATE KEY-----",
                "--",
                "key",
                "x1Y2z3W4v5",
                "<",
                ">",
                "$6$",
                "eyJ",
            ),
        )
    ),
    max_size=25,
).map("".join)


@given(FRAGMENTS)
def test_any_mixture_of_fragments_is_stable_after_masking(text: str) -> None:
    once = mask_text(text)
    assert mask_text(once) == once


@given(FRAGMENTS)
def test_masking_keeps_the_number_of_lines(text: str) -> None:
    assert mask_text(text).count("\n") == text.count("\n")


def test_lines_are_masked_together_so_that_a_key_block_is_seen() -> None:
    body = [make(B64, 64), make(B64, 64), make(B64, 20)]
    lines = ["start", "-----BEGIN " + "RSA PRIVATE KEY-----", *body, "-----END " + "RSA PRIVATE KEY-----", "end"]
    masked = mask_lines(lines)
    assert masked == ["start", *[MASK] * 5, "end"]


def test_key_lines_whose_begin_was_read_earlier_are_masked() -> None:
    body = [make(B64, 64), make(B64, 64), make(B64, 20)]
    assert mask_lines([*body, "plain words"]) == [MASK, MASK, MASK, "plain words"]


@pytest.mark.parametrize("lines_of_this_scan", [1, 2, 3, 4])
def test_a_key_that_comes_in_two_scans_is_masked_in_both(lines_of_this_scan: int) -> None:
    body = [make(B64, 70) for _ in range(4)]
    key = ["-----BEGIN " + "PRIVATE KEY-----", *body, make(B64, 30) + "==", "-----END " + "PRIVATE KEY-----", "ready"]
    masked = mask_lines(key[:lines_of_this_scan]) + mask_lines(key[lines_of_this_scan:])
    assert masked == [*[MASK] * 7, "ready"]


def test_what_a_log_puts_before_the_lines_of_a_key_is_kept() -> None:
    lines = [f"app-1  | 2026-01-31T12:00:00Z {make(B64, 76)}" for _ in range(3)]
    assert mask_lines(lines) == ["app-1  | 2026-01-31T12:00:00Z ***"] * 3


@table(
    ("text", "masked"),
    [
        ("password:\n  abc\nuser: bob", "password:\n  ***\nuser: bob"),
        ("- name: DB_PASS\n  value: abc\n- name: A\n  value: ", "- name: DB_PASS\n  value: ***\n- name: A\n  value: "),
        ("passwords:\n- abc\n- def\nuser: bob", "passwords:\n- ***\n- ***\nuser: bob"),
        ('{"passwords": ["abc", "def"], "user": "bob"}', '{"passwords": ["***", "***"], "user": "bob"}'),
        ('{"credentials": {"value": "abc", "type": "plain"}}', '{"credentials": {"value": "***", "type": "plain"}}'),
        ("app-1 | password:\napp-1 | abc\napp-1 | ready to go", "app-1 | password:\napp-1 | ***\napp-1 | ready to go"),
        ("Password:\n\nabcdef\n", "Password:\n\n***\n"),
        ("password:\nLogin failed for bob", "password:\nLogin failed for bob"),
        (
            "| user | password |\n|------|----------|\n| bob  | Tabula-Rasa3 |\n| al   | - |\n\n| x | y-z |",
            "| user | password |\n|------|----------|\n| bob  | *** |\n| al   | - |\n\n| x | y-z |",
        ),
        (" user | password\n------+----\n bob | Tabula-Rasa3", " user | password\n------+----\n bob | ***"),
        (
            "x: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  44da68ceb19634ce4bf1\n  d437\nport: 5432",
            "x: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n***\n***\nport: 5432",
        ),
        ("writing\ndb:5432:shop:app:Morgen-Muffel", "writing\ndb:5432:shop:app:***"),
        ("password: @@000A\ntoken: @@DB_TOKEN@@", "password: ***\ntoken: @@DB_TOKEN@@"),
        ("password = \'\'\'ab'c-12\'\'\'\nport = 1", "password = \'\'\'***\'\'\'\nport = 1"),
        ('password = """\nabc-12\n"""\nport = 1', 'password = """\n***\n"""\nport = 1'),
        ("Server=db;PWD={ab;c-12};Port=1", "Server=db;PWD={***};Port=1"),
        ("password={name};x", "password={name};x"),
        ("<key>Port</key>\n<string>abc-12</string>", "<key>Port</key>\n<string>abc-12</string>"),
        ("<key>Password</key>\n  <string>abc-12</string>", "<key>Password</key>\n  <string>***</string>"),
        ("<key>Password</key><string>abc-12</string>", "<key>Password</key><string>***</string>"),
        ("<name>s3.secret.key</name>\n<value>abc-12</value>", "<name>s3.secret.key</name>\n<value>***</value>"),
        ("334 VXNlcm5hbWU6\nYm9i\n334 UGFzc3dvcmQ6\nYWJj\n235", "334 VXNlcm5hbWU6\nYm9i\n334 UGFzc3dvcmQ6\n***\n235"),
        ("#0 PDO->__construct('mysql:host=db', 'app', 'abc-12')", "#0 PDO->__construct('mysql:host=db', 'app', '***')"),
        ("mysqli_connect('db', 'app', 'abc-12', 'shop')", "mysqli_connect('db', 'app', '***', 'shop')"),
        ("Private-Lines: 2\nNakPE+MO\nM03t\nPrivate-MAC: 12", "Private-Lines: 2\n***\n***\nPrivate-MAC: 12"),
        (
            f"I0114 09:12:44.12 1 a.go:88] -----BEGIN {KEY}\nI0114 09:12:44.13 1 a.go:88] NakPE+MO\nI0114 ready",
            "I0114 09:12:44.12 1 a.go:88] ***\nI0114 09:12:44.13 1 a.go:88] ***\nI0114 ready",
        ),
    ],
)  # fmt: skip
def test_a_value_apart_from_its_name_is_masked_and_nothing_else(text: str, masked: str) -> None:
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


def test_after_very_many_names_without_values_what_follows_them_is_masked() -> None:
    text = "password:\ncanary of two words\n" * 2_000
    once = mask_text(text)
    assert once.count("canary") <= 1_000
    assert once.count("\n") == text.count("\n")
    assert mask_text(once) == once


def test_a_certificate_is_no_secret() -> None:
    text = "-----BEGIN CERTIFICATE-----\\nshort\\n-----END CERTIFICATE-----"
    assert mask_text(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgres://app:pw@db/x", "postgres://app:***@db/x"),
        ("GET /a?token=abc&user=bob", "GET /a?token=***&user=bob"),
        ('{"password":"a\\"b","user":"bob"}', '{"password":"***","user":"bob"}'),
        ("Pwd=abc;Server=db", "Pwd=***;Server=db"),
        ("(password: abc)", "(password: ***)"),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
    ],
)
def test_masks_the_secret_and_nothing_else(text: str, masked: str) -> None:
    assert mask_text(text) == masked


SECRET_KEYS = """
password DB_PASS pwd GITHUB_PAT SENTRY_DSN apiKey X-Api-Key PRIVATE_KEY clientSecret access_token DB_CREDENTIALS
PGPASSWORD dbpass PASSWORD2 AWS_SECRET_ACCESS_KEY my.secret-key tokens_secret API_TOKENS
"""
PLAIN_KEYS = """
secretary passenger compass tokenizer author keyboard PATH pattern monkey bypass primary_key max_tokens PASSWORD_FILE
token_url public_key cache_key total_tokens passed LANG
"""


@table("key", SECRET_KEYS.split())
def test_names_of_secrets_are_known(key: str) -> None:
    assert is_secret_key(key)


@table("key", PLAIN_KEYS.split())
def test_names_that_only_resemble_are_left_alone(key: str) -> None:
    assert not is_secret_key(key)


def test_a_pair_is_masked_by_its_key_or_by_its_shape() -> None:
    assert mask_pair("DB_PASSWORD", "short") == MASK
    assert mask_pair("DATABASE_URL", "postgres://u:pw@h/d") == "postgres://u:***@h/d"
    assert mask_pair("LANG", "C.UTF-8") == "C.UTF-8"
    assert mask_pair("DB_PASSWORD", "") == ""


def test_a_secret_at_the_clip_is_masked_before_it_is_cut() -> None:
    secret = make(ALNUM, 30)
    assert secret[:6] not in safe_text("x" * 90 + " password=" + secret, max_chars=110)


def test_a_secret_known_by_its_shape_is_masked_before_it_is_cut() -> None:
    secret = make(ALNUM, 30)  # cut in half, nothing would tell that it is one: the @ behind it is gone
    assert secret[:6] not in safe_text("x" * 60 + f" postgres://shop:{secret}@db:5432/shop", max_chars=92)


@pytest.mark.promise("S9")
def test_fingerprints_compare_values_and_need_the_key() -> None:
    sealer, other = Sealer.random(), Sealer.random()
    assert sealer.seal("image", "a").fingerprint == sealer.seal("image", "a").fingerprint
    assert sealer.seal("image", "a") is sealer.seal("image", "a")
    assert sealer.seal("image", "a").fingerprint != sealer.seal("image", "b").fingerprint
    assert sealer.seal("image", "a").fingerprint != other.seal("image", "a").fingerprint
    assert Sealer(b"k").seal("image", "a") == Sealer(b"k").seal("image", "a")


@pytest.mark.promise("S9")
def test_environment_values_are_never_shown_and_others_are_masked() -> None:
    sealer = Sealer.random()
    assert sealer.seal("environment.LANG", "C").shown == ""
    assert sealer.seal("labels.db.password", "abc").shown == MASK
    assert sealer.seal("command", "app --password abc").shown == "app --password ***"
    assert sealer.seal("image", "nginx:1.25").shown == "nginx:1.25"


def test_text_with_a_lone_surrogate_can_be_sealed() -> None:
    assert Sealer.random().seal("command", "a\ud800").shown == "a\\ud800"


@table(
    ("text", "masked"),
    [
        ('["app", "--password", "a \\"b c", "--port", "80"]', '["app", "--password", "***", "--port", "80"]'),
        ("['app', '--token', 'a b', '-v']", "['app', '--token', '***', '-v']"),
        ('"[\\"--token\\", \\"a b\\", \\"x\\"]"', '"[\\"--token\\", \\"***\\", \\"x\\"]"'),
        ('["mysqladmin", "ping", "-pfoo"]', '["mysqladmin", "ping", "-p***"]'),
        ('["redis-cli", "-a", "foo", "ping"]', '["redis-cli", "-a", "***", "ping"]'),
        ('["curl", "-u", "bob:foo", "http://h"]', '["curl", "-u", "bob:***", "http://h"]'),
        ('["app", "--password-file", "/run/p"]', '["app", "--password-file", "/run/p"]'),
        ("mysql -h db -P 3306", "mysql -h db -P 3306"),
    ],
)
def test_the_arguments_of_a_command_line_given_as_a_list_are_masked(text: str, masked: str) -> None:
    assert mask_text(text) == masked
    assert mask_text(masked) == masked


def test_ten_thousand_pairs_in_one_line_are_masked_without_deep_recursion() -> None:
    text = "GET /?" + "&".join(f"x{i}=1&token=canary{i}" for i in range(10_000))
    assert "canary" not in mask_text(text)


def test_after_very_many_tokens_of_one_kind_the_rest_of_a_line_is_masked() -> None:
    token = "ghp_" + "aB3" * 12
    assert mask_text(f"{token} " * MOST_MATCHES + "and so on").endswith("and so on")
    assert "and so on" not in mask_text(f"{token} " * (MOST_MATCHES + 1) + "and so on")


@pytest.mark.parametrize("name", ["integrity sha512-", "sha512:", "sha-512="])
def test_a_digest_of_64_bytes_is_no_key(name: str) -> None:
    digest = base64.b64encode(bytes(range(64))).decode()
    assert mask_text(f"{name}{digest}") == f"{name}{digest}"
    assert digest not in mask_text(f"the account's {digest}")


@pytest.mark.parametrize("pair", ["password=canary ", "--token canary ", "x://u:canary@h/ ", "Authorization: canary "])
def test_after_very_many_secrets_the_rest_of_a_line_is_masked(pair: str) -> None:
    assert "canary" not in mask_text(pair * 5_000)
    assert mask_text(mask_text(pair * 5_000)) == mask_text(pair * 5_000)


def test_every_key_block_without_its_begin_is_masked() -> None:
    body = make(B64, 64)
    block = f"{body}\n-----END " + "PRIVATE KEY-----\n"
    assert body not in mask_text(block * 150)
    assert mask_text(block * 150).count("\n") == (block * 150).count("\n")


def test_a_long_name_is_judged_by_its_end() -> None:
    assert mask_text("x." * 500 + "password=canary") == "x." * 500 + "password=***"


def test_names_of_networks_and_paths_do_not_hide_what_they_are_attached_to() -> None:
    sealer = Sealer.random()
    assert sealer.seal("networks.my-secret", "attached").shown == "attached"
    assert sealer.seal("volumes./run/secrets/s1", "bind /etc/s1").shown == "bind /etc/s1"
    assert sealer.seal("logging.options.splunk-token", "abc").shown == MASK


SOME_HEX = make("0123456789abcdef", 40)
SOME_AWS_ID = "AK" + "IA" + make("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)
SOME_AWS_KEY = make(B64, 40)
SOME_VAULT_TOKEN = "s." + make(ALNUM, 24)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"credentials {SOME_AWS_ID} {SOME_AWS_KEY}", SOME_AWS_KEY),
        (f"{SOME_AWS_ID}:{SOME_AWS_KEY}", SOME_AWS_KEY),
        (f"aws configure set aws_secret_access_key {SOME_AWS_KEY}", SOME_AWS_KEY),
        (f"vault token renewed: {SOME_HEX}", SOME_HEX),
        (f"API key created: {SOME_HEX}", SOME_HEX),
        (f"using master key '{SOME_HEX}'", SOME_HEX),
        (f"logged in with {SOME_VAULT_TOKEN}", SOME_VAULT_TOKEN),
    ],
)
def test_a_secret_that_stands_a_word_or_two_after_its_name_is_masked(text: str, secret: str) -> None:
    assert secret not in mask_text(text)


@pytest.mark.parametrize(
    "text",
    [
        f"token expired, commit: {SOME_HEX}",
        f"secret image sha256: {SOME_HEX}",
        f"cache key {SOME_HEX} missed",
        "api_key is required for api_key authentication",
        "calls s.getElementsByTagNameLower of it",
    ],
)
def test_what_only_stands_near_such_a_name_is_kept(text: str) -> None:
    assert mask_text(text) == text


def test_a_secret_at_the_end_of_a_name_is_masked_before_it_is_cut() -> None:
    url = "postgres://user:Zq3hunter9@db/x"  # without its @ it is no more than a host and a port
    assert "Zq3" not in safe_name("x" * 234 + " " + url)


def test_a_secret_at_the_cut_of_a_huge_text_is_gone() -> None:
    secret = make(ALNUM, 30)
    text = "x " * (MAX_INPUT_CHARS // 2 - 10) + secret + " and more"
    assert secret[:3] not in safe_text(text, max_chars=MAX_INPUT_CHARS)


def test_a_name_that_is_no_utf8_still_tells_what_its_value_is() -> None:
    assert safe_pair("\ud800_password", "short") == MASK


@pytest.mark.integration
def test_text_that_fills_the_memory_of_a_search_writes_nothing() -> None:
    code = (
        "from bcon_exporter.secrets import masking as m; m._SEARCH_MEMORY_BYTES = 2 << 20;"
        "m._searcher(m.make_trigger(m.PHRASES)).search(b'the password for admin is hunter2 at http://a:b@c/ ' * 20)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stderr == ""
