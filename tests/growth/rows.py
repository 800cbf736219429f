"""Every function that sees text from outside, one row each: what is let in, and how the text stands when it is met.

A new function that sees text of a container, an engine, a Compose file or a client is one more row.
"""

from __future__ import annotations

import functools
import json
import struct
from typing import Any

import yaml

from bcon_exporter.catalogue import causes, load_catalogue
from bcon_exporter.compose.env_files import find_defaults, parse_env_file
from bcon_exporter.compose.failures import explain_failure
from bcon_exporter.compose.referenced_files import find_named_files
from bcon_exporter.compose.variables import expand, read_values
from bcon_exporter.compose.yaml_nodes import NotYamlError, UndeterminedFilesError
from bcon_exporter.diagnosis import (
    client_errors,
    container_lookup,
    failure_phrases,
    log_events,
    log_levels,
    mounts,
    multiline,
    start_errors,
)
from bcon_exporter.diagnosis.failed_connections import Failure, FailureKind, peer_of
from bcon_exporter.diagnosis.log_text import lines_of
from bcon_exporter.diagnosis.peer_names import parse_peer_field
from bcon_exporter.diagnosis.peer_state import _names_client
from bcon_exporter.diagnosis.peers import _with_peer_from_words
from bcon_exporter.diagnosis.ports import _wanted_binding
from bcon_exporter.diagnosis.rules.unhealthy import _cause
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.drift import container_references
from bcon_exporter.engine import allowlist, disk, http_parser, parse
from bcon_exporter.engine.failures import engine_message
from bcon_exporter.engine.parse import (
    NotJsonError,
    container,
    decode_array,
    decode_json,
    drop_cut_line,
    parse_event,
    parse_log_stream,
    split_entries,
    wiring,
)
from bcon_exporter.engine.parse.json_fields import parse_time
from bcon_exporter.errors import BconError, InvalidInputError
from bcon_exporter.model import exit_codes, naming
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.name_suggestions import did_you_mean
from bcon_exporter.model.tool_inputs import DetectDriftInput, GetContainerLogsInput, parse_published
from bcon_exporter.outputs.http.access_control import host_of
from bcon_exporter.outputs.http.users import parse_basic
from bcon_exporter.outputs.metrics.negotiation import accepts_gzip, choose_format
from bcon_exporter.outputs.metrics.writing import label_value
from bcon_exporter.outputs.text import markdown
from bcon_exporter.secrets import cleaning, masking, normal_form
from bcon_exporter.secrets.known_secrets import KnownSecrets, find_secrets
from bcon_exporter.yaml_faults import YAML_FAULTS, line_of_fault, tell_fault
from tests import factories
from tests.growth.measuring import Row

KIB = 1024
HEADER_BYTES = 16 * KIB
BODY_BYTES = 64 * KIB
LINE_CHARS = 8192
LOG_BYTES = 4 * 1024 * KIB
LABEL_CHARS = 800_000
"""What an image was seen to carry in one LABEL; the cleaners cut it at 256 KiB."""
LOOK_AHEAD_CHARS = 4 * KIB
"""PyYAML looks ahead 1,024 characters from each bracket: 0.7 s for any text of so many or more."""
CLEAN_CHARS = cleaning.MAX_INPUT_CHARS

ANY_UNITS = (
    *(
        "a",
        " ",
        "\n",
        "\t",
        "0",
        "9.",
        "-",
        "_",
        ".",
        "/",
        ":",
        "=",
        ",",
        ";",
        "'",
        '"',
        "\\",
        "$",
        "@",
        "|",
        "[",
        "{",
        "(",
    ),
    *("é", "a ", "a=", "a:", "a-1", "1:", "1.1.1.1:", "A1", "\u2028"),
)
"""Repeated over every function."""
HOSTILE_UNITS = (
    *("\x90", "\x98", "\x9b", "\x9c", "\x9d", "\x9f", "\x90\x9d", "\x9d\n", "\x9ba\x9d", "\x90\x07", "\x9d0;"),
    *(
        "\r",
        "\r\n",
        "\r\r\n",
        "\n\r",
        "\r ",
        "\x1b",
        "\x1b]",
        "\x1b[",
        "\x1b[0",
        "\x1b[0;",
        "\x1b ",
        "\x1bP",
        "\x1bP\x1b\\",
    ),
    *("\x1b]8;;\x07", "\x1b\\", "\x1b[31mx\x1b[0m ", "\x00", "\u202e", "\ud800", "\U000e0041", "a\u0301"),
)
"""For what sees text that is not yet clean."""
SECRET_UNITS = (
    *("password=", "password= ", "password: ", "token:", "key=", '"key":"', "passwd a ", "--token ", "-p", "a=b&"),
    *(
        "://",
        "x://",
        "x://u:p",
        "x://u:p@",
        "u:p@",
        "eyJ",
        "eyJa.",
        "AKIA",
        "sk-",
        "ghp_",
        "$6$a",
        "$argon2id$",
        "sha256:",
    ),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN ", "-----", "\nMIIE", "A1b/", "+/Aa0"),
    *(
        "Authorization: ",
        "Bearer ",
        "Basic ",
        "bearer a",
        "curl -u ",
        "<password>",
        "'--token','",
        "token=${",
        "%3D",
        "\\n",
    ),
    *('"password":"', "=a,", "\\\\", "pass=a&", "pass=a;", '"key":"a",', "tokens=1 ", "auth=auth="),
    *("a:b@c ", "mysql -p", "token x: ", "s.a1B"),
)
"""What masking looks for."""
TABLE_UNITS = ("|password|\n", "|", "a|b\n", "$ANSIBLE_VAULT;\n", "0a\n", "db:5432:a:b:c\n", "db:5432:", "password=@@")
"""What it looks for in several lines."""
APART_UNITS = (
    *("Private-Lines: 999\n", "<key>password</key>\n", "<string>a", "password='''", 'password="""\n'),
    *("334 UGFzc3dvcmQ6\n", "PDO->__construct('", "password={a;b1};", "0 -----BEGIN PRIVATE KEY-----\n0 A1b/\n"),
)
"""Names whose value stands apart from them."""
YAML_UNITS = (
    "- ",
    "? ",
    "a: ",
    "a:\n",
    "&a ",
    "*a ",
    "[",
    "{",
    "- [",
    '"',
    "'",
    "!!a ",
    "|\n",
    "%",
    "\t",
    "# ",
    "<<: ",
    "a: b\n",
)
LOG_UNITS = (
    *("ERROR ", "[error] ", "level=", '"level":"', 'HTTP/1.1" 500 ', "Caused by: ", "Exception", "a.B", "  ", " | "),
    *("connection refused ", "-> 1.1.1.1:", "dial tcp ", "port ", "port=", "127.0.0.1:", "lookup a on ", "[::1]:"),
    *("2026-01-01T00:00:00Z ", "deadbeef", "db:5432 ", "/a", "/a@", "/a/", "api-", "Bind for 0.0.0.0:80", "HTTP 5"),
)
EVENT_UNITS = ("INFO a\nERROR b\nINFO a\n", "TimeoutError: a timed out\n  url: 'http://a:1/'\n")
"""Failures between lines of a routine, and one that names its peer below."""
FRAME_STAMP = "2026-01-01T00:00:00.000000000Z "


def raw_bytes(text: str) -> bytes:
    """The text as it is sent, lone surrogates and all."""
    return text.encode("utf-8", "surrogatepass")


def frame(text: str) -> bytes:
    """One frame of a log."""
    body = raw_bytes(FRAME_STAMP + text)
    return struct.pack(">BxxxI", 1, len(body)) + body


def frames(text: str) -> bytes:
    """A log of frames of 16 bytes each."""
    body = raw_bytes(text)
    pieces = (body[start : start + 16] for start in range(0, len(body), 16))
    return b"".join(struct.pack(">BxxxI", 1, len(piece)) + piece for piece in pieces)


def log_lines(text: str) -> tuple[Any, ...]:
    """The text as lines of at most 8192 characters, as the log reader hands them on."""
    clean = cleaning.strip_controls(text)
    return tuple(factories.line(part) for part in clean.split("\n") for part in (part[:LINE_CHARS],))


def long_lines(text: str) -> tuple[Any, ...]:
    """The text cut into lines of 8192 characters, clean."""
    clean = text.replace("\n", " ")
    return tuple(factories.line(clean[start : start + LINE_CHARS]) for start in range(0, len(clean), LINE_CHARS))


def hit_of(text: str) -> Hit:
    """A hit of the shipped catalogue whose line is this text."""
    return Hit(catalogue().signatures[0], text)


def symptom_of(text: str) -> Symptom:
    """A symptom whose evidence is this text."""
    return Symptom(
        type=SymptomType.LOG_ERROR,
        severity=Severity.ERROR,
        description="x",
        detected_at=factories.NOON,
        evidence=(text,),
    )


def failure_of(text: str) -> Failure:
    """A failed connection whose line is this text."""
    return Failure(FailureKind.OTHER, None, text)


@functools.cache
def catalogue() -> Any:
    """The shipped signatures."""
    return load_catalogue()


def drain(elements: Any) -> None:
    """Use an iterator up."""
    for element in elements:
        element.read()


def feed_bytewise(raw: bytes) -> None:
    """Read an answer that comes byte by byte."""
    reader = http_parser.AnswerReader(LOG_BYTES)
    for position in range(len(raw)):
        reader.feed(raw[position : position + 1])


def feed(raw: bytes) -> None:
    """Read an answer that comes at once, and all answers behind it."""
    reader = http_parser.AnswerReader(LOG_BYTES)
    reader.feed(raw)
    while (answer := reader.take()) is not None:
        answer.header("content-type")
        reader.feed(b"")


def chunks(text: str) -> bytes:
    """A chunked answer of chunks of one byte."""
    body = b"".join(b"1\r\n" + bytes((byte,)) + b"\r\n" for byte in raw_bytes(text))
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + body + b"0\r\n\r\n"


def read_yaml(text: str) -> None:
    """Tell what is wrong with a file as the settings' readers do."""
    try:
        yaml.safe_load(text)
    except YAML_FAULTS as error:
        tell_fault(error)
        line_of_fault(error)


def labels(text: str) -> dict[str, Any]:
    """An inspected container with one label."""
    return inspected(Config={"Labels": {"x": text}})


def inspected(**parts: Any) -> dict[str, Any]:
    """What the engine says of a container."""
    return {"Id": "a" * 64, "Name": "/api", **parts}


def parse_inspected(detail: dict[str, Any]) -> None:
    """All facts of one container, its configuration for drift included."""
    parse.parse_container({}, detail)
    parse.parse_placement(detail)
    parse.parse_config(detail, None, SEALER)


framed = functools.partial(split_entries, tty=False)
KNOWN = KnownSecrets(frozenset({"a1B2c3D4" * 3, "abababab" * 2}))
SEVERAL_KNOWN = KnownSecrets(frozenset(f"a1B2c3D4{number:04d}" for number in range(100)))
MANY_KNOWN = KnownSecrets(frozenset(f"a1B2c3D4{number:04d}" for number in range(900)))
SEALER = masking.Sealer.random()
WIRED = factories.container(mounts=(), networks=())
PLAIN = (InvalidInputError, BconError, ValueError)

CLEANING = (
    Row("strip_controls", cleaning.strip_controls, LABEL_CHARS, units=HOSTILE_UNITS),
    Row("clean_text", cleaning.clean_text, LABEL_CHARS, units=HOSTILE_UNITS),
    Row("clean_line", cleaning.clean_line, LABEL_CHARS, units=HOSTILE_UNITS),
    Row("clean_name", cleaning.clean_name, LABEL_CHARS, units=HOSTILE_UNITS),
)
MASKING = (
    Row("safe_text", masking.safe_text, LABEL_CHARS, units=(*HOSTILE_UNITS, *SECRET_UNITS)),
    Row("safe_name", masking.safe_name, LABEL_CHARS, units=SECRET_UNITS),
    Row("safe_pair, value", functools.partial(masking.safe_pair, "x"), LABEL_CHARS, units=SECRET_UNITS),
    Row("safe_pair, key", lambda key: masking.safe_pair(key, "x"), LABEL_CHARS, units=("aB", "A_", "pass", "KEY")),
    Row("is_secret_key", masking.is_secret_key, CLEAN_CHARS, units=("aB", "A_", "pass", "KEY", "a1")),
    Row(
        "mask_lines",
        masking.mask_lines,
        CLEAN_CHARS,
        lambda text: text.split("\n"),
        (*SECRET_UNITS, "A1b/\n", "password:\n", "a\n", "-----BEGIN PRIVATE KEY-----\n", *TABLE_UNITS),
    ),
    Row("mask_lines, told apart", masking.mask_lines, CLEAN_CHARS, lambda text: text.split("\n"), APART_UNITS),
    Row("Sealer.seal", lambda text: SEALER.seal("labels.x", text), LABEL_CHARS, units=SECRET_UNITS),
    Row("find_secrets", find_secrets, LABEL_CHARS, lambda text: [("PASSWORD", text)], ("a1B\n", "://a:b@", "://")),
    Row(
        "find_secrets, many",
        find_secrets,
        LABEL_CHARS,
        lambda text: [("PASSWORD", text[start : start + 32]) for start in range(0, len(text), 32)],
    ),
    Row("KnownSecrets.hide", KNOWN.hide, CLEAN_CHARS, cleaning.strip_controls, units=("a1B", "ab", "a1B2c3D4", "%61")),
    Row(
        "KnownSecrets.hide, of several",
        SEVERAL_KNOWN.hide,
        CLEAN_CHARS,
        cleaning.strip_controls,
        units=("a1B", "0001", "a1B2c3D40001"),
        smallest=16 * KIB,  # an expression is made for more text only
    ),
    Row(
        "KnownSecrets.hide, of many",
        MANY_KNOWN.hide,
        CLEAN_CHARS,
        cleaning.strip_controls,
        units=("a1B", "0001", "a1B2c3D40001"),
        smallest=CLEAN_CHARS // 4,  # above some 30,000 characters Python searches another way, twice as slow
    ),
    Row("KnownSecrets.hide_tag", KNOWN.hide_tag, CLEAN_CHARS, cleaning.strip_controls, units=("a1B", ":", "a1B2c3D4:")),
)
LOGS = (
    Row("log framing", framed, LOG_BYTES, frame),
    Row("log framing, small frames", framed, 256 * KIB, frames, units=("\n", FRAME_STAMP)),
    Row(
        "log framing, terminal",
        functools.partial(split_entries, tty=True),
        LOG_BYTES,
        raw_bytes,
        units=(FRAME_STAMP, FRAME_STAMP + "\n", FRAME_STAMP + "a\r\n", "Z ", "0Z "),
    ),
    Row(
        "log reading",
        functools.partial(parse_log_stream, tty=True),
        256 * KIB,
        raw_bytes,
        units=(*HOSTILE_UNITS, *SECRET_UNITS, FRAME_STAMP + "a\r\n"),
    ),
    Row(
        "drop_cut_line",
        lambda entries: drop_cut_line(entries, 1) if entries else None,
        256 * KIB,
        lambda text: split_entries(frames(text), tty=False),
    ),
    Row(
        "log files",
        lines_of,
        512 * KIB,
        lambda text: text.split("\n"),
        (*HOSTILE_UNITS, "a | ", FRAME_STAMP + "stdout P x\n"),
    ),
    Row(
        "level_of",
        lambda text: log_levels._level_of_head.__wrapped__(text[: log_levels.HEAD_CHARS]),
        LINE_CHARS,
        units=LOG_UNITS,
    ),
    Row(
        "find_events, long lines",
        lambda lines: log_events.find_events(lines, catalogue()),
        256 * KIB,
        long_lines,
        LOG_UNITS,
    ),
    Row(
        "find_events, short lines",
        lambda lines: log_events.find_events(lines, catalogue()),
        256 * KIB,
        log_lines,
        (*(f"{unit}\n" for unit in LOG_UNITS), "ERROR a\n  at b\n", "panic:\n\n", "{\n", "ERROR a\n", *EVENT_UNITS),
    ),
    Row(
        "multiline.unwrapped",
        lambda text: multiline.unwrapped([text, " a"]),
        LINE_CHARS,
        units=("a  b.py:1", "  a.b:1 "),
    ),
    Row("multiline.continues", lambda text: multiline.continues(text, text), LINE_CHARS, units=LOG_UNITS),
    Row("template_of", log_events.template_of, CLEAN_CHARS, units=LOG_UNITS),
    Row("looks_like_failure", failure_phrases.looks_like_failure, LINE_CHARS, units=LOG_UNITS),
    Row("is_fatal", failure_phrases.is_fatal, LINE_CHARS, units=LOG_UNITS),
    Row("is_lost_answer", failure_phrases.is_lost_answer, LINE_CHARS, units=('HTTP/1.1" ', "[GIN] ", "[GIN] | 5")),
    Row("names_client", client_errors.names_client, LINE_CHARS, units=LOG_UNITS),
)
DIAGNOSIS = (
    Row(
        "start_error_of",
        start_errors.start_error_of,
        CLEAN_CHARS,
        units=("exec: ", "exec:", "port is ", "containerd ", "mount"),
    ),
    Row("mount_at", functools.partial(mounts.mount_at, WIRED), LINE_CHARS, units=LOG_UNITS),
    Row("host_of a peer", container_lookup.host_of, LINE_CHARS, units=("[", "]", "@", "://", "::")),
    Row(
        "port_of a peer",
        lambda text: container_lookup.port_of("db", text),
        LINE_CHARS,
        units=("port", "port ", "port=:1"),
    ),
    Row("is_address", container_lookup.is_address, LINE_CHARS, units=("::", "f:", "[", "]")),
    Row("peer_of", peer_of, LINE_CHARS, hit_of, LOG_UNITS),
    Row(
        "parse_peer_field",
        parse_peer_field,
        LINE_CHARS,
        units=(*LOG_UNITS, "url: ", "url='", "host:'a:1", "url: 'http://a' "),
    ),
    Row(
        "named peers",
        lambda failure: _with_peer_from_words(
            failure, WIRED, container_lookup.ContainerLookup(factories.snapshot(WIRED))
        ),
        LINE_CHARS,
        failure_of,
        LOG_UNITS,
    ),
    Row(
        "wanted port",
        lambda text: _wanted_binding(text, WIRED),
        CLEAN_CHARS,
        units=("Bind for ", "listen tcp ", "listen tcp 0.0.0.0:"),
    ),
    Row(
        "symptom is about",
        lambda symptom: _names_client(WIRED, symptom),
        CLEAN_CHARS,
        symptom_of,
        ("api", "-api", "apiapi-", ".api"),
    ),
    Row(
        "cause of a probe",
        lambda text: _cause(factories.probe(output=text, exit_code=1)),
        CLEAN_CHARS,
        units=("exec failed", ": not", ": ", "HTTP "),
    ),
    Row(
        "fill numbers in",
        lambda text: causes.fill(text, {"name": "x"}),
        4 * KIB,
        units=("{", "{{", "{name}", "{a", "}"),
    ),
)
ENGINE = (
    Row("HTTP reader", feed, http_parser.HEAD_LIMIT_BYTES, raw_bytes, ("HTTP/1.1 200 OK\r\n\r\n",), (ValueError,)),
    Row(
        "HTTP reader, headers",
        feed,
        http_parser.HEAD_LIMIT_BYTES,
        lambda text: b"HTTP/1.1 200 OK\r\n" + raw_bytes(text) + b"\r\n\r\n",
        ("\r\n", "\r\na:", "\r\nconnection ", "\r\nconnection:", "\r\ncontent-length: 1", "\r\ntransfer-encoding\t"),
        (ValueError,),
    ),
    Row(
        "HTTP reader, byte by byte",
        feed_bytewise,
        http_parser.HEAD_LIMIT_BYTES,
        lambda text: b"HTTP/1.1 200 OK\r\na: " + raw_bytes(text),
        ("\r\n", "\r\na:", "\r", "\r\n\r"),
        (ValueError,),
    ),
    Row("HTTP reader, chunks", feed, LOG_BYTES // 16, chunks, raises=(ValueError,)),
    Row(
        "HTTP reader, chunks byte by byte",
        feed_bytewise,
        64 * KIB,
        lambda text: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: " + raw_bytes(text),
        ("\r", "\r\na:"),
        (ValueError,),
    ),
    Row("JSON", decode_json, LABEL_CHARS, raw_bytes, ('{"a":', '"\\ud800', "[1,", "{}", "1e9"), (NotJsonError,)),
    Row(
        "JSON array",
        lambda raw: drain(decode_array(raw.decode(errors="replace"))),
        LABEL_CHARS,
        lambda text: b"[" + raw_bytes(text) + b"{}]",
        ("{},", '{"Id":"a"},', "1,", "[],", '"",', '{"a":', "\n"),
        (NotJsonError,),
    ),
    Row("engine's message", engine_message, LABEL_CHARS, raw_bytes, ('{"message":"', *HOSTILE_UNITS)),
    Row("parse_time", parse_time, LABEL_CHARS, units=("2026-01-01T00:00:00Z", "+00:")),
    Row("labels", parse_inspected, LABEL_CHARS, labels, HOSTILE_UNITS),
    Row(
        "label names",
        parse_inspected,
        LABEL_CHARS,
        lambda text: inspected(Config={"Labels": {text: "x"}}),
        HOSTILE_UNITS,
    ),
    Row(
        "Compose labels",
        lambda raw: container.parse_compose(container.parse_labels(raw)),
        LABEL_CHARS,
        lambda text: {
            f"com.docker.compose.{key}": text
            for key in ("project", "service", "container-number", "project.config_files")
        },
        (",", "1,"),
    ),
    Row(
        "state",
        parse_inspected,
        LABEL_CHARS,
        lambda text: inspected(State={"Error": text, "Status": text}),
        HOSTILE_UNITS,
    ),
    Row(
        "status text",
        lambda text: (
            parse.parse_container({"Id": "a" * 64, "Status": text}),
            parse.has_changed({"Status": text}, {"Status": text + "x"}),
        ),
        LABEL_CHARS,
        units=("1 second", "About ", "Less than a ", "Exited (", "Up 1 hour ", "(healthy)"),
    ),
    Row(
        "probes",
        lambda raw: container.parse_health(raw, {}, KNOWN),
        LABEL_CHARS,
        lambda text: {"Status": "unhealthy", "Log": [{"Start": "2026-01-01T00:00:00Z", "ExitCode": 1, "Output": text}]},
        (*HOSTILE_UNITS, *SECRET_UNITS),
    ),
    Row("environment", parse_inspected, LABEL_CHARS, lambda text: inspected(Config={"Env": [f"PASSWORD={text}"]})),
    Row(
        "command",
        parse_inspected,
        LABEL_CHARS,
        lambda text: inspected(Config={"Cmd": ["sh", "-c", text], "Entrypoint": [text]}),
        SECRET_UNITS,
    ),
    Row(
        "ports",
        parse_inspected,
        LABEL_CHARS,
        lambda text: inspected(HostConfig={"PortBindings": {text: [{"HostIp": text, "HostPort": text}]}}),
        ("80/tcp", "0-"),
    ),
    Row(
        "mounts",
        parse_inspected,
        LABEL_CHARS,
        lambda text: inspected(
            Mounts=[{"Type": "bind", "Source": text, "Destination": text}],
            HostConfig={"Tmpfs": {"/t": text}, "Binds": [text]},
        ),
        ("/a", "../", "/./", "a:", "size=1,"),
    ),
    Row(
        "host configuration",
        parse_inspected,
        LABEL_CHARS,
        lambda text: inspected(
            HostConfig={
                "ExtraHosts": [text],
                "Links": [text],
                "SecurityOpt": [text],
                "NetworkMode": text,
                "Dns": [text],
                "RestartPolicy": {"Name": text},
                "LogConfig": {"Type": text, "Config": {"x": text}},
                "Ulimits": [{"Name": text}],
                "Sysctls": {text: text},
                "Devices": [{"PathOnHost": text}],
                "CapAdd": [text],
            }
        ),
        ("a:", "a=", "seccomp="),
    ),
    Row(
        "networks",
        lambda raw: wiring.parse_networks({}, raw),
        LABEL_CHARS,
        lambda text: {"Networks": {text: {"Aliases": [text], "IPAddress": text}}},
    ),
    Row(
        "events",
        parse_event,
        LABEL_CHARS,
        lambda text: {
            "Type": "container",
            "Action": f"health_status: {text}",
            "timeNano": 1,
            "Actor": {"ID": "a" * 64, "Attributes": {"name": text, "image": text, "signal": text}},
        },
        HOSTILE_UNITS,
    ),
    Row(
        "engine, networks, volumes",
        lambda text: (
            parse.parse_engine({"Name": text, "ServerVersion": text}, {"Version": text}),
            parse.parse_network({"Name": text, "Id": text, "Labels": {text: text}}),
            parse.parse_volume({"Name": text, "Labels": {text: text}}),
        ),
        256 * KIB,
        units=HOSTILE_UNITS,
    ),
    Row("mount table", disk.parse_mounts_table, LABEL_CHARS, raw_bytes, ("1 1 1:1 / / - a b\n", "\\040", "- ")),
    Row("is_valid_image", allowlist.is_valid_image, LABEL_CHARS, units=("a/", "a:", "a@", "..", "a.")),
    Row("is_valid_reference", allowlist.is_valid_reference, LABEL_CHARS),
    Row("parse_signal", exit_codes.parse_signal, LABEL_CHARS, units=("SIG", "SIGA", "+1")),
    Row("normalise_name", naming.normalise_name, LABEL_CHARS, units=("0123456789ab_",)),
)
DRIFT = (
    Row("durations", normal_form.duration_of, LABEL_CHARS, units=("1s", "1h", "1.", "0.1ms")),
    Row("words_of", normal_form.words_of, LABEL_CHARS, units=("'", '"', "\\")),
    Row("bytes_of", normal_form.bytes_of, LABEL_CHARS),
    Row("number_of", normal_form.number_of, LABEL_CHARS),
    Row("directory_of", normal_form.directory_of, LABEL_CHARS, units=("/.", "../", "//")),
    Row("options_of", normal_form.options_of, LABEL_CHARS, units=("a,", "a=b,")),
    Row("hosts_of", lambda text: normal_form.hosts_of([text]), LABEL_CHARS, units=("a:", "a=")),
    Row(
        "security_options_of",
        lambda text: normal_form.security_options_of([text]),
        LABEL_CHARS,
        units=("seccomp={", "seccomp=["),
    ),
    Row("shown_path", normal_form.shown_path, LABEL_CHARS, units=HOSTILE_UNITS),
    Row("stem of a replica", container_references.strip_replica_number, LABEL_CHARS, units=("-1", "_1", "-", "1")),
)
REQUESTS = (
    Row("Authorization", parse_basic, HEADER_BYTES, lambda text: f"Basic {text}", ("QUFB", "=", "OmE6"), (ValueError,)),
    Row("Host", host_of, HEADER_BYTES, units=("[", "]", ":80", "a.")),
    Row("Accept", choose_format, HEADER_BYTES, units=("a/b,", ";q=1", "text/plain;q=0,", '";,', "a=b;")),
    Row("Accept-Encoding", accepts_gzip, HEADER_BYTES, units=("gzip;q=0,", "a,", ";q=")),
    Row(
        "tool inputs",
        lambda raw: (GetContainerLogsInput.model_validate(raw), DetectDriftInput.model_validate(raw)),
        BODY_BYTES,
        lambda text: {"container": text, "tail": text, "since": text, "project": text},
        ("1", " 1", "1.", "+", "-", "2026-01-01T"),
        (ValueError,),
    ),
    Row("published ports", parse_published, BODY_BYTES, units=("1-", "/tcp", "1"), raises=(ValueError,)),
    Row(
        "JSON body", json.loads, BODY_BYTES, units=('{"a":', "[", "1", '"\\u0061'), raises=(ValueError, RecursionError)
    ),
    Row("did_you_mean", lambda text: did_you_mean(text[:100], ["scan.deadline"] * 50), LABEL_CHARS),
)
OUTPUTS = (
    Row("Markdown, inline", markdown.escape, CLEAN_CHARS, units=("`", "*", "1.", "-", "\n")),
    Row("Markdown, block", lambda text: markdown.fence([text]), CLEAN_CHARS, units=("`", "` ", "``\n")),
    Row("metric label", label_value, LABEL_CHARS, units=(*HOSTILE_UNITS, "\\", '"')),
)
COMPOSE_UNITS = (
    "include:\n- a\n",
    "- ",
    "[",
    "{a: ",
    "&a ",
    "*a ",
    "services: {a: {env_file: ",
    "? ",
    "!!binary ",
    "<<: ",
)
FILES = (
    Row(
        "Compose file, walked",
        lambda text: find_named_files(raw_bytes(text)),
        1024 * KIB,
        units=COMPOSE_UNITS,
        raises=(NotYamlError, UndeterminedFilesError),
    ),
    Row(
        "values of env files",
        read_values,
        1024 * KIB,
        units=("A=", "A=$", "A=${", "A=${B:-", "export ", "A='", 'A="', "A=b #\n", "\\'"),
    ),
    Row(
        "names with variables",
        lambda text: expand(text, {}),
        1024 * KIB,
        units=("${A}", "$A", "${A:-", "${A:-b}", "$$", "}"),
    ),
    Row(
        "secrets of env files",
        lambda text: list(parse_env_file(text)),
        1024 * KIB,
        units=("A='", 'A="', "A=b #", "A=\\'\n", "'\n", "export "),
    ),
    Row(
        "defaults in Compose files",
        lambda text: list(find_defaults(text)),
        1024 * KIB,
        units=("${A:-", "${A:-b}", "${", "}"),
    ),
    Row("YAML error telling", read_yaml, 1024 * KIB, units=YAML_UNITS, smallest=LOOK_AHEAD_CHARS),
    Row(
        "Compose failures",
        lambda text: explain_failure(text, ("/srv/compose.yml",)),
        64 * KIB,
        units=(
            "services.a ",
            "line 1",
            "validating /a",
            "parse /",
            "required variable ",
            " '' does",
            "env file ",
            "open /a: ",
            "a.b.",
            "' ",
        ),
    ),
)
ROWS: tuple[Row, ...] = (*CLEANING, *MASKING, *LOGS, *DIAGNOSIS, *ENGINE, *DRIFT, *REQUESTS, *OUTPUTS, *FILES)
