"""Promise: a secret value of the environment is hidden wherever it stands; plain words are not, nor other values."""

import pytest

from bcon_exporter.model.env_secrets import find_env_secrets, hide_values

PASSWORD = "Qx7" + "rT9vLm2p"


@pytest.mark.parametrize(
    "key", ["DB_PASSWORD", "API_KEY", "JWT_SECRET", "GITHUB_TOKEN", "POSTGRES_PASS", "session-pwd"]
)
def test_a_value_under_a_secret_name_is_hidden(key: str) -> None:
    values = find_env_secrets([f"{key}={PASSWORD}", "LEVEL=debug"])
    assert values == (PASSWORD,)
    assert hide_values(f"tried {PASSWORD}, then {PASSWORD}!", values) == "tried ***, then ***!"


@pytest.mark.parametrize(
    "entry",
    [
        *("POSTGRES_PASSWORD=postgres", "DB_PASSWORD=admin", "PASSWORD=12345678", "TOKEN=", "API_KEY"),
        *("DB_PASSWORD_FILE=/run/secrets/Db_Password1", "RELEASE=Qx7rT9vLm2p"),
    ],
)
def test_plain_words_and_other_values_stay(entry: str) -> None:
    assert find_env_secrets([entry]) == ()


def test_each_line_of_a_long_value_is_hidden_the_longest_first() -> None:
    values = find_env_secrets([f"SSH_PRIVATE_KEY={PASSWORD}\n{PASSWORD}longer\n"])
    assert values == (f"{PASSWORD}longer", PASSWORD)
    assert hide_values(f"{PASSWORD}longer", values) == "***"


def test_an_odd_environment_is_no_failure() -> None:
    assert find_env_secrets([None, 7, {}, "\udc80_KEY=" + PASSWORD, "=x", "TOKEN=" + "aB3" * 5000]) is not None
    assert len(find_env_secrets(f"TOKEN_{n}=aB3defgh{n}" for n in range(1000))) <= 64
