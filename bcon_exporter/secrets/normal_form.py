"""The normal form of configured values: one spelling for each meaning, so that both sides of a drift can be compared.

Compose files and the engine write the same thing in many ways ("64m" and 67108864, "CAP_NET_ADMIN" and "net_admin").
Both readers call these functions, so equal meaning gives equal text. A value that says only what the engine
does anyway becomes None and is left out of the map: absent and default are the same.
"""

import hashlib
import json
import posixpath
import re  # noqa: TID251 - sees at most 64 characters of a duration
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any

from bcon_exporter.model.desired import FieldValue
from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.masking import safe_text

if TYPE_CHECKING:
    from bcon_exporter.secrets.masking import Sealer

RawFields = dict[str, str]
"""Field path → normal form of the raw text, secrets included; never leaves the function that makes it."""

EXPLICITLY_ABSENT = FieldValue(shown="none", fingerprint="")
"""The value of a path that the container must not have, although its image has it."""

ABSENT_TEXT = "\0absent"
"""Stands for EXPLICITLY_ABSENT in RawFields."""

NANOSECONDS = 1_000_000_000
DEFAULT_SHM_BYTES = 64 * 1024 * 1024
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)")
_UNIT_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "h": 3600 * NANOSECONDS,
}
_ANONYMOUS_CHARS, _HEX_DIGITS = 64, "0123456789abcdef"
_LONGEST_DURATION = 64


def seal_fields(raw: RawFields, sealer: "Sealer", secrets: KnownSecrets = NO_SECRETS) -> dict[str, FieldValue]:
    """Return the map that may leave the process: values masked or fingerprinted, paths masked.

    Args:
        raw: What is to be sealed.
        sealer: The process's one sealer.
        secrets: Values that must not be shown.
    """
    if not secrets.stand_in([*raw, *(text for path, text in raw.items() if not path.startswith("environment."))]):
        secrets = NO_SECRETS
    fields: dict[str, FieldValue] = {}
    for path, text in sorted(raw.items()):  # hundreds of containers have the same paths: one copy of each is enough
        value = EXPLICITLY_ABSENT if text == ABSENT_TEXT else sealer.seal(path, text, secrets)
        add_field(fields, intern(shown_path(path, secrets)), value)
    return fields


def seal_image(reference: str, sealer: "Sealer") -> str:
    """Return the fingerprint of an image reference: two tags that are masked alike must not compare as equal."""
    return sealer.seal("image", normalize_reference(reference)).fingerprint


def normalize_reference(reference: str) -> str:
    """Return an image reference with registry, namespace and tag written out, as the engine resolves it."""
    name, at, digest = reference.partition("@")
    first, slash, path = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    elif first in ("docker.io", "index.docker.io"):
        name = f"docker.io/{path if '/' in path else f'library/{path}'}"
    if at:
        return f"{name}@{digest}"
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def add_field(fields: dict[str, FieldValue], path: str, value: FieldValue) -> None:
    """Add a value; where masking has made one path of two, both count: neither may come or go unseen."""
    existing = fields.get(path)
    if existing is not None:
        shown = existing.shown if existing.shown == value.shown else f"{existing.shown}, {value.shown}"
        pair = "".join(sorted((existing.fingerprint, value.fingerprint)))
        value = FieldValue(shown, hashlib.sha256(pair.encode()).hexdigest()[: len(value.fingerprint)])
    fields[path] = value


def shown_path(path: str, secrets: KnownSecrets = NO_SECRETS) -> str:
    """Return a path as it may leave the process: an alias or a mount's target can hold a token."""
    return safe_text(hide_in_path(path, secrets))


def hide_in_path(path: str, secrets: KnownSecrets) -> str:
    """Return a path with known values hidden; a network's name is an identity, and so is a variable's."""
    root = path.partition(".")[0]
    if root == "environment":
        return path
    if root == "networks":
        network, aliases, alias = path.partition(".aliases.")
        return f"{network}{aliases}{secrets.hide(strip_controls(alias))}"
    return secrets.hide(strip_controls(path))


def put(fields: RawFields, path: str, text: str | None) -> None:
    """Add the text unless it is None, which means default."""
    if text is not None:
        fields[path] = text


def mapping_of(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def text_of(value: object) -> str | None:
    """Return a scalar as text; None for "", None and false."""
    if value is None or value is False or value == "":
        return None
    return "true" if value is True else str(value)


def flag_of(value: object) -> str | None:
    """Return "true" or "false"; None where neither is asked for and the engine's own setting counts."""
    return {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None


def number_of(value: object, *, default: int = 0) -> str | None:
    """Return an integer as text; None for the default, for 0 and for what is no number."""
    if value is None or value == "":
        return None
    try:
        number = int(float(str(value)))
    except ValueError:
        return str(value)
    return None if number in (0, default) else str(number)


def bytes_of(value: object, *, default: int = 0) -> str | None:
    """Return a size in the largest exact unit, "64m"; None for the default and for 0."""
    text = number_of(value, default=default)
    if text is None:
        return None
    try:
        size = int(text)
    except ValueError:
        return text
    for unit, factor in (("g", 1024**3), ("m", 1024**2), ("k", 1024)):
        if size > 0 and size % factor == 0:
            return f"{size // factor}{unit}"
    return text


def cpus_of(nano_cpus: object) -> str | None:
    """Return a number of CPUs, "0.5", from billionths; None for 0."""
    text = number_of(nano_cpus)
    return f"{int(text) / NANOSECONDS:.9f}".rstrip("0").rstrip(".") if text else None


def words_of(value: object) -> str | None:
    """Return an argument list as text that keeps word boundaries and order; None when empty."""
    if isinstance(value, str):
        value = [value] if value else []
    if not isinstance(value, Sequence) or not value or list(value) == [""]:
        return None
    return json.dumps([str(word) for word in value], ensure_ascii=False)


def ordered_of(values: object) -> str | None:
    """Return a list whose order matters, joined by ", "; None when empty."""
    return ", ".join(str(value) for value in values) or None if isinstance(values, Sequence) else None


def sorted_of(values: Iterable[str]) -> str | None:
    """Return a list whose order does not matter, joined by ", "; None when empty."""
    return ", ".join(sorted(set(values))) or None


def duration_nanoseconds(value: object) -> int | None:
    """Parse a Go duration ("1m30s") or nanoseconds; None for 0 and for what is neither."""
    if isinstance(value, int):
        return value or None
    if not isinstance(value, str):
        return None
    if len(value) > _LONGEST_DURATION:
        return None
    parts = _DURATION_PART.findall(value)
    return round(sum(float(amount) * _UNIT_NANOSECONDS[unit] for amount, unit in parts)) or None


def duration_of(value: object) -> str | None:
    """Return a duration in the shortest exact unit, "90s" or "1500ms"; None for 0."""
    nanoseconds = duration_nanoseconds(value)
    if nanoseconds is None:
        return None
    for unit in ("s", "ms", "us"):
        if nanoseconds % _UNIT_NANOSECONDS[unit] == 0:
            return f"{nanoseconds // _UNIT_NANOSECONDS[unit]}{unit}"
    return f"{nanoseconds}ns"


def capabilities_of(values: object) -> str | None:
    """Return capability names, upper case, without CAP_."""
    names = values if isinstance(values, Sequence) else ()
    return sorted_of(str(name).upper().removeprefix("CAP_") for name in names)


def restart_of(name: object, attempts: object) -> str | None:
    """Return a restart policy, "always" or "on-failure:3"; None for no restart."""
    if name in (None, "", "no", "none"):
        return None
    policy = "always" if name == "any" else str(name)
    return f"{policy}:{attempts}" if policy == "on-failure" and attempts else policy


def directory_of(value: object) -> str | None:
    """Return a directory without needless slashes and dots; None when empty."""
    return posixpath.normpath(value) if isinstance(value, str) and value else None


def bindings_of(bindings: Iterable[tuple[str, str]]) -> str:
    """Return a port's host bindings, each (host ip, host port); "" is any address and an ephemeral port."""
    return ", ".join(sorted({f"{ip}:{port}" if ip else (port or "any free port") for ip, port in bindings}))


def is_anonymous(volume: str) -> bool:
    """Return whether the engine made a volume's name up: 64 hex digits."""
    return len(volume) == _ANONYMOUS_CHARS and not volume.strip(_HEX_DIGITS)


def mount_of(kind: str, source: str, *, read_only: bool) -> str:
    """Return a mount as "bind /src" or "volume name"; a 64-digit volume name is an anonymous volume."""
    shown = "(anonymous)" if kind == "volume" and (not source or is_anonymous(source)) else source
    if kind == "bind":
        shown = posixpath.normpath(source)
    return f"{kind} {shown}".rstrip() + (" read-only" if read_only else "")


def tmpfs_of(size: object, mode: object, *, read_only: bool) -> str:
    """Return a tmpfs mount of the long form."""
    parts = [f"{name}={text}" for name, text in (("size", number_of(size)), ("mode", number_of(mode))) if text]
    return " ".join(["tmpfs", *parts, *(["read-only"] if read_only else [])])


def propagation_of(value: object) -> str | None:
    """Return a bind mount's propagation; None for rprivate, which the engine takes where it is not asked."""
    return None if value == "rprivate" else text_of(value)


def consistency_of(value: object) -> str | None:
    """Return a mount's consistency; None for the default."""
    return None if value == "default" else text_of(value)


def options_of(text: object) -> str:
    """Return comma-separated mount options in one order; "default options" when there are none."""
    return ",".join(sorted(part for part in str(text or "").split(",") if part)) or "default options"


def security_options_of(values: object) -> tuple[str, ...]:
    """Return security options with one separator; a seccomp profile's content is reduced to "custom"."""
    return tuple(_security_option(str(value)) for value in values) if isinstance(values, Sequence) else ()


def _security_option(text: str) -> str:
    separator = "=" if "=" in text.split(":", 1)[0] else ":"
    name, _, value = text.partition(separator)
    if name == "no-new-privileges":
        value = value or "true"
    if name == "seccomp" and value not in ("unconfined", "builtin", ""):
        value = "custom"
    return f"{name}={value}" if value else name


def hosts_of(entries: object) -> dict[str, str]:
    """Return host → addresses of `host:ip` or `host=ip` entries."""
    addresses_of: dict[str, set[str]] = {}
    for entry in entries if isinstance(entries, Sequence) else ():
        host, _, address = str(entry).replace("=", ":", 1).partition(":")
        addresses_of.setdefault(host, set()).add(address.strip("[]"))
    return {host: ", ".join(sorted(addresses)) for host, addresses in addresses_of.items()}


def device_request_of(driver: object, count: object, ids: object, capabilities: Iterable[str], options: object) -> str:
    """Return a request for devices (GPUs) as text: "nvidia all gpu"; without ids, -1 stands for all of them."""
    device_ids = sorted(map(str, ids)) if isinstance(ids, Sequence) and not isinstance(ids, str) else []
    amount = (
        "ids " + ",".join(device_ids) if device_ids else "all" if str(count) in ("-1", "all") else f"count {count or 0}"
    )
    extra = sorted(f"{key}={value}" for key, value in options.items()) if isinstance(options, Mapping) else []
    return " ".join([*([str(driver)] if driver else []), amount, ",".join(sorted(set(capabilities))), *extra])


def healthcheck_of(check: Mapping[str, object], *, names: Mapping[str, str]) -> RawFields:
    """Return the set parts of a health check; `names` maps our part names to the source's keys."""
    fields: RawFields = {}
    put(fields, "healthcheck.test", words_of(check.get(names["test"])))
    put(fields, "healthcheck.retries", number_of(check.get(names["retries"])))
    for part in ("interval", "timeout", "start_period", "start_interval"):
        put(fields, f"healthcheck.{part}", duration_of(check.get(names[part])))
    return fields
