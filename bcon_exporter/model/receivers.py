"""Who gets messages: addresses of apprise with options before them."""

from pydantic import SecretStr

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.findings import Severity

_OPTIONS = ("name", "severity", "project")
_HINT = (
    "is no list of receivers; write an address of apprise, with options before it: "
    "name=phone severity=critical project=shop,blog ntfys://ntfy.sh/TOPIC"
)
_NAME_MAX = 64


class Receiver(Frozen):
    """Who gets messages.

    Attributes:
        name: For logs and metrics; the address is a secret.
        url: As apprise takes it.
        least: Incidents of less severity are not told.
        projects: Only incidents in which one of these has a part; empty for all.
    """

    name: str
    url: SecretStr
    least: Severity = Severity.ERROR
    projects: tuple[str, ...] = ()


def parse_receivers(text: str) -> tuple[Receiver, ...]:
    """Return the receivers of a text: addresses between white space, each with its options before it.

    Raises:
        ValueError: It is no such text. The message never quotes it: addresses hold passwords.
    """
    receivers: list[Receiver] = []
    options: dict[str, str] = {}
    for word in text.split():
        if "://" in word:
            receivers.append(_make(word, options, len(receivers) + 1))
            options = {}
            continue
        name, equals, value = word.partition("=")
        if not equals or not value or name not in _OPTIONS or name in options:
            raise ValueError(_HINT)
        options[name] = value
    if options or not receivers:
        raise ValueError(_HINT)
    return tuple(receivers)


def _make(url: str, options: dict[str, str], number: int) -> Receiver:
    schema = url.partition("://")[0]
    name = options.get("name") or f"{schema}-{number}"
    severity = options.get("severity", Severity.ERROR.value)
    if severity not in (Severity.ERROR.value, Severity.CRITICAL.value):
        msg = "severity must be error or critical: warnings open no incident"
        raise ValueError(msg)
    plain = all(sign.isascii() and (sign.isalnum() or sign in "_.-") for sign in name)
    if not plain or len(name) > _NAME_MAX or not schema.isascii() or not schema.isalnum():
        raise ValueError(_HINT)
    projects = tuple(part for part in options.get("project", "").split(",") if part)
    return Receiver(name=name, url=SecretStr(url), least=Severity(severity), projects=projects)


def name_apart(receivers: tuple[Receiver, ...]) -> tuple[Receiver, ...]:
    """Return receivers of several texts; those without a name of their own are numbered anew.

    Raises:
        ValueError: Two have the same name.
    """
    named: list[Receiver] = []
    for number, receiver in enumerate(receivers, 1):
        schema, dash, was = receiver.name.rpartition("-")
        is_numbered = dash and was.isdecimal() and receiver.url.get_secret_value().startswith(f"{schema}://")
        named.append(receiver.model_copy(update={"name": f"{schema}-{number}"}) if is_numbered else receiver)
    if len({receiver.name for receiver in named}) < len(named):
        msg = "names two receivers alike"
        raise ValueError(msg)
    return tuple(named)
