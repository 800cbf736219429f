"""A host full of secrets, each different and each in its own place; made at run time, so that no scanner trips.

A password of no shape stands only where a name announces it; where none does (an innocent label, a log line), the
secret has a shape of its own. Values of the environment never leave, whatever their name and shape.
"""

from __future__ import annotations

import base64
import html
import json
import secrets
import string
from dataclasses import dataclass, field
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

import re2

from tests.secrets.encodings import CANARIES, ENCODINGS, is_whole
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

_TELLING = 6
"""Characters of what is looked for at least, where a line's end cuts a value in two."""
ALNUM = string.ascii_letters + string.digits


def random_text(alphabet: str, length: int) -> str:
    """Random text that has a digit and, where the alphabet has them, letters of both cases."""
    while True:
        text = "".join(secrets.choice(alphabet) for _ in range(length))
        if all(
            any(kind(c) for c in text) for kind in (str.isdigit, str.islower, str.isupper) if any(map(kind, alphabet))
        ):
            return text


@dataclass
class Canaries:
    """Secrets by the place that each was put in."""

    by_place: dict[str, str] = field(default_factory=dict)

    def password(self, place: str) -> str:
        """A password of no shape."""
        return self.keep(place, "canary" + random_text(ALNUM, 14))

    def token(self, place: str, kind: str = "github") -> str:
        """A secret that is known by its shape."""
        makers = {
            "github": "gh" + "p_" + random_text(ALNUM, 36),
            "gitlab": "gl" + "pat-" + random_text(ALNUM, 20),
            "aws": "AK" + "IA" + random_text(string.ascii_uppercase + string.digits, 16),
            "slack": "xo" + "xb-" + random_text(string.digits, 12) + "-" + random_text(ALNUM, 24),
            "stripe": "sk" + "_live_" + random_text(ALNUM, 24),
            "vault": "hv" + "s." + random_text(ALNUM, 24),
            "jwt": ".".join((_jwt_part(alg="HS256"), _jwt_part(sub=random_text(ALNUM, 8)), random_text(ALNUM, 43))),
            "bcrypt": "$2" + "b$10$" + random_text(ALNUM, 53),
            "apr1": "$ap" + "r1$" + random_text(ALNUM, 8) + "$" + random_text(ALNUM, 22),
            "sha512crypt": "$6" + "$" + random_text(ALNUM, 12) + "$" + random_text(ALNUM, 86),
        }
        return self.keep(place, makers[kind])

    def key_line(self, place: str) -> str:
        """One line of a private key."""
        return self.keep(place, random_text(ALNUM + "+/", 64))

    def basic(self, place: str) -> str:
        """Credentials as an Authorization header carries them."""
        return self.keep(place, base64.b64encode(f"bob:{random_text(ALNUM, 15)}".encode()).decode())

    def keep(self, place: str, secret: str) -> str:
        """Take a secret that was made elsewhere."""
        assert place not in self.by_place, place
        self.by_place[place] = secret
        return secret

    def places(self) -> set[str]:
        """The places, each once: a secret is put there before and after the file is changed, and in two projects."""
        again = (", running", ", wanted", ", own", ", of the files")
        return {reduce(str.removesuffix, again, place) for place in self.by_place}

    def found_in(self, text: str) -> list[str]:
        """The places whose secret, or a telling half of it, stands in the text."""
        return [place for place, secret in self.by_place.items() if any(part in text for part in _parts(secret))]


def _parts(secret: str) -> tuple[str, ...]:
    """A secret and its middle: one that is cut in two or shown in part has leaked as well."""
    third = len(secret) // 3
    return (secret, secret[third : 2 * third + 2]) if third >= 8 else (secret, secret[-10:])


def _jwt_part(**content: str) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def log_lines(canaries: Canaries) -> tuple[list[str], list[str]]:
    """Lines for standard output and standard error."""
    key = canaries.key_line
    out = [
        json.dumps({"level": "error", "msg": "login failed", "password": canaries.password("log: JSON")}),
        f'level=error msg="no connection" dsn=u:{canaries.password("log: logfmt")}',
        f"ERROR connect to postgres://app:{canaries.password('log: URL')}@db:5432/shop refused",
        f"-> Authorization: Bearer {canaries.password('log: Bearer')}",
        f"-> Authorization: Basic {canaries.basic('log: Basic')}",
        f"> X-Api-Key: {canaries.password('log: header')}",
        f"Server=db;User Id=sa;Password={canaries.password('log: connection string')};Encrypt=true",
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        key("log: PEM 1"),
        key("log: PEM 2"),
        "-----END " + "RSA PRIVATE KEY-----",
        f"panic: session {canaries.token('log: JWT', 'jwt')} expired",
        f"pulled with {canaries.token('log: forge token', 'gitlab')}",
        "x" * (16384 - 20) + f" password={canaries.password('log: across chunks')} error: line of several chunks",
        f"password=\x1b[31m{canaries.password('log: coloured')}\x1b[0m",
    ]
    err = [
        f"Error: {canaries.token('log: AWS id', 'aws')} aws_secret_access_key={canaries.password('log: AWS key')}",
        f"FATAL could not read hash {canaries.token('log: bcrypt', 'bcrypt')}",
        f"root:{canaries.token('log: shadow', 'sha512crypt')}:19000:0:99999:7:::",
        f"Traceback: KeyError: '{canaries.token('log: stripe', 'stripe')}'",
        f"GET /cb?code=1&access_token={canaries.password('log: query')}&x=2 500",
    ]
    return out, err


def encoded_lines(canaries: Canaries, env: str) -> list[str]:
    """Lines with what an environment holds, in the encodings in which programs log what they got."""
    base64_of = {f"base64 at {n}": base64.b64encode(b"x" * n + env.encode() + b"yyy").decode() for n in range(3)}
    encodings = {
        "hex": env.encode().hex(),
        "hex in capitals": env.encode().hex().upper(),
        **base64_of,
        "percent": "".join(f"%{ord(char):02X}" for char in env),
        "percent twice": "".join(f"%25{ord(char):02x}" for char in env),
        "HTML": "".join(f"&#{ord(char)};" for char in env),
        "HTML in hex": "".join(f"&#x{ord(char):x};" for char in env),
        "Unicode escapes": "".join(f"\\u{ord(char):04x}" for char in env),
        "JSON in JSON": "".join(f"\\\\u{ord(char):04x}" for char in env),
        "byte escapes": "".join(f"\\x{ord(char):02x}" for char in env),
    }
    lines = [f"ERROR cannot use {canaries.keep(f'log: env in {name}', text)} here" for name, text in encodings.items()]
    first, second = (
        canaries.keep("log: first half of env", env[:10]),
        canaries.keep("log: second half of env", env[10:]),
    )
    escaped = {
        "percent": "%7B%22password%22%3A%22@%22%7D",
        "HTML": "&quot;password&quot;: &quot;@&quot;",
        "Unicode escapes": "\\u0022password\\u0022:\\u0022@\\u0022",
        "a continued line": "password=\\\n@",
    }
    lines += [f"ERROR {text.replace('@', canaries.password(f'log: name in {name}'))}" for name, text in escaped.items()]
    return [*lines, f"ERROR wrapped {first}", second]


def start_containers(engine: TestEngine, canaries: Canaries, folder: Path) -> None:
    """Start containers that hold a secret wherever one can stand."""
    out, err = log_lines(canaries)
    logs = folder / "logs"
    logs.mkdir()
    (logs / "out").write_text("\n".join(out) + "\n")
    env = canaries.password("env")
    err += encoded_lines(canaries, env)
    (logs / "err").write_text("\n".join(err) + "\n" + f"unended password={canaries.password('log: unended line')}")
    mounted = folder / canaries.token("mount source", "vault")
    mounted.mkdir()
    _import_labels(engine, canaries)
    engine.docker("volume", "create", "--label", f"db.password={canaries.password('volume label')}", "vol1")
    engine.docker("network", "create", "--label", f"note={canaries.token('network label')}", "net1")
    engine.docker(
        *("run", "-d", "--name", "everything", "--restart", "always"),
        *("-e", f"DB_PASSWORD={env}", "-e", f"GREETING={canaries.password('innocent env')}"),
        *("-e", f"LINK=https://u:{canaries.password('env URL')}@h/"),
        *("-l", f"com.example.api-key={canaries.password('label')}"),
        *("-l", f"com.example.home=https://u:{canaries.password('label URL')}@h/"),
        *("-l", f"com.example.note={canaries.token('innocent label', 'slack')}"),
        *("-l", f"traefik.users=bob:{canaries.token('label hash', 'apr1')}"),
        *("-l", f"bcon.threshold.high_cpu={canaries.token('threshold label')}"),
        *("-l", f"bcon.ignore={canaries.token('ignore label')}"),
        *("--hostname", canaries.token("hostname", "gitlab"), "--add-host", "db:10.0.0.1"),
        *("--network", "net1", "--network-alias", canaries.token("alias", "gitlab")),
        *("-v", f"{mounted}:/{canaries.token('mount target', 'gitlab')}", "-v", "vol1:/vol1", "-v", f"{logs}:/logs"),
        *("--log-opt", f"tag=https://u:{canaries.password('log option')}@h/"),
        *("--health-interval", "1s", "--health-retries", "1"),
        *("--health-cmd", f"curl -u bob:{canaries.password('health command')} h; {_say(canaries)}; exit 1"),
        *("--entrypoint", "/bin/sh", "labelled:1"),
        *("-c", 'cat /logs/out; cat /logs/err >&2; echo "log in with $DB_PASSWORD"; sleep 3; exit 3 # "$@"', "app"),
        *("--password", canaries.password("command flag"), f"--token={canaries.password('command option')}"),
        f"redis://:{canaries.password('command URL')}@cache:6379",
    )
    engine.docker(
        "run",
        "-dt",
        "--name",
        "terminal",
        engine.image,
        "sh",
        "-c",
        f"echo API_TOKEN={canaries.password('log: TTY')}; exit 4",
    )
    refused = f"https://u:{canaries.password('state error')}@h/"
    engine.docker("create", "--name", "refused", engine.image, refused)
    engine.docker("start", "refused", check=False)
    count = ("inspect", "-f", "{{len .State.Health.Log}}", "everything")
    wait_until(lambda: engine.docker(*count) != "0", "a probe")


def _say(canaries: Canaries) -> str:
    return (
        f"echo secret={canaries.password('health output')}; echo tried $DB_PASSWORD; "
        f"echo Bearer {canaries.token('health output token', 'jwt')}"
    )


def _import_labels(engine: TestEngine, canaries: Canaries) -> None:
    engine.docker("create", "--name", "seed", engine.image, "sh")
    engine.docker(
        *("commit", "-c", f"LABEL maintainer.password={canaries.password('image label')}"),
        *(
            "-c",
            f"LABEL vcs=https://x:{canaries.password('image label URL')}@git/",
            "-c",
            f"ENV BUILT={canaries.password('image env')}",
        ),
        *("-m", f"token={canaries.password('image comment')}", "seed", "labelled:1"),
    )
    engine.docker("rm", "seed")


COMPOSE = """
services:
  web:
    image: {image}
    entrypoint: ["sh", "-c", "sleep 1000", "--api-key={entrypoint}"]
    command: ["--password", "{command}", "${{FROM_DOTENV}}"]
    build: {{context: ., args: {{TOKEN: "{argument}"}}}}
    environment: {{DB_PASSWORD: "{environment}", PLAIN: "{plain}"}}
    env_file: [web.env]
    label_file: web.labels
    labels: {{app.secret: "{label}", app.home: "https://u:{label_url}@h/"}}
    secrets: [s1, s2]
    configs: [c1, c2, {{source: c1, target: "/etc/{target}"}}]
    hostname: "{hostname}"
    domainname: "{domain}"
    working_dir: "/{working_dir}"
    dns_search: ["{search}"]
    cgroup_parent: "/{cgroup}"
    tmpfs: ["/{tmpfs}:size=1m"]
    ports: [{{target: 80, name: "{port}"}}]
    deploy: {{labels: {{deploy.password: "{deploy_label}"}}}}
    post_start: [{{command: ["true", "--password", "{hook}"]}}]
    networks: {{default: {{aliases: ["{alias}"]}}}}
    volumes: ["./{volume}:/data", "kept:/kept"]
    healthcheck: {{test: ["CMD", "sh", "-c", "wget --header 'Authorization: Bearer {health}' h"], interval: 100s}}
    extra_hosts: ["{host}:10.0.0.9"]
    logging: {{driver: json-file, options: {{tag: "https://u:{option}@h/"}}}}
  side:
    image: {image}
    entrypoint: ["sleep", "1000"]
    network_mode: service:web
    volumes_from: [web]
    environment: {{SIDE_TOKEN: "{side}"}}
  linked:
    image: {image}
    entrypoint: ["sleep", "1000"]
    links: ["web:{link}"]
secrets:
  s1: {{file: ./s1.txt}}
  s2: {{environment: SECRET_TWO}}
configs:
  c1: {{content: "password={config}"}}
  c2: {{environment: CONFIG_TWO}}
networks:
  default:
    name: "net-{network}"
    labels: {{net.password: "{network_label}"}}
    driver_opts: {{com.example.token: "{network_option}"}}
volumes:
  kept: {{name: "kept-{named}", labels: {{volume.password: "{volume_label}"}}}}
x-note: "{note}"
"""


PASSWORDS = {
    "entrypoint": "entrypoint",
    "command": "command",
    "argument": "build argument",
    "environment": "environment",
    "plain": "innocent environment",
    "label": "label",
    "label_url": "label URL",
    "health": "health command",
    "option": "log option",
    "config": "config",
    "note": "note",
    "deploy_label": "deploy label",
    "hook": "command after the start",
    "side": "environment of a service that shares",
    "network_label": "network label",
    "volume_label": "volume label",
    "network_option": "network option",
}
"""Field of COMPOSE → the place of a password, which only its name or its neighbours tell."""

TOKENS = {
    "hostname": "hostname",
    "alias": "alias",
    "volume": "volume",
    "host": "extra host",
    "target": "config target",
    "domain": "domain name",
    "working_dir": "working directory",
    "search": "DNS search",
    "cgroup": "cgroup parent",
    "tmpfs": "tmpfs",
    "port": "port name",
    "link": "link alias",
    "network": "network name",
    "named": "volume name",
}
"""Field of COMPOSE → the place of a token, known by its shape: nothing else there tells a secret."""


def start_project(engine: TestEngine, canaries: Canaries, folder: Path, project: str) -> Path:
    """Bring up a project full of secrets, then change every one of them in its file."""
    for round_name in ("running", "wanted"):

        def made(what: str, kind: str | None = None, round_name: str = round_name) -> str:
            place = f"compose {what}, {round_name}"
            return canaries.token(place, kind) if kind else canaries.password(place)

        (folder / "web.env").write_text(f"FILE_PASSWORD={made('env_file')}\nOTHER={made('innocent env_file')}\n")
        (folder / "web.labels").write_text(f"file.password={made('label_file')}\n")
        dotenv = {"FROM_DOTENV": ".env", "SECRET_TWO": "secret of a variable", "CONFIG_TWO": "config of a variable"}
        (folder / ".env").write_text("".join(f"{name}=--api-key={made(what)}\n" for name, what in dotenv.items()))
        (folder / "s1.txt").write_text(made("secret file") + "\n")
        text = COMPOSE.format(
            image=engine.image,
            **{name: made(what) for name, what in PASSWORDS.items()},
            **{name: made(what, "gitlab") for name, what in TOKENS.items()},
        )
        (folder / "compose.yaml").write_text(f"name: {project}\n{text}")
        if round_name == "running":
            engine.compose("up", "-d", cwd=folder)
    return folder / "compose.yaml"


SHAPES = {
    "argon2": "FATAL hash $argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$@",
    "Digest": 'Authorization: Digest username="bob", response="@", nonce="x"',
    "list in JSON": '{"passwords":["@"]}',
    "list in YAML": "passwords: [@]",
    "list in lines": "passwords:\n- @",
    "object of credentials": '{"credentials":{"value":"@"}}',
    "next line": "password:\n@",
    "named value": "- name: DB_PASSWORD\n  value: @",
    "curl": "+ curl -su bob:@ https://h/",
    "PGPASSWORD": "+ PGPASSWORD=@ psql -h db",
    "mysql": "+ mysql -uroot -p@ shop",
    "sshpass": "+ sshpass -p @ ssh h",
    "htpasswd": "+ htpasswd -b f u @",
    "openssl": "+ openssl rsa -passin pass:@",
    "docker login": "+ docker login -u u -p @ r",
    "Set-Cookie": "Set-Cookie: session=@; HttpOnly",
    "Cookie": "Cookie: sid=@",
    "presigned URL": "GET https://b.s3.amazonaws.com/k?X-Amz-Signature=@ 403",
    "shared access": "GET https://a.blob.core.windows.net/c?sv=2022&sig=@",
    "account key": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@;EndpointSuffix=x",
    "key in JSON": '{"private_key":"-----BEGIN PRIVATE KEY-----\\n@\\n-----END PRIVATE KEY-----\\n"}',
    "netrc": "machine h login u password @",
    "SQL": "CREATE USER app IDENTIFIED BY '@'",
    "npm": "//registry.npmjs.org/:_authToken=@",
    "docker config": '{"auths":{"r":{"auth":"@"}}}',
    "otpauth": "otpauth://totp/x?secret=@",
    "Slack's webhook": "POST https://hooks.slack.com/services/T0000AAAA/B0000AAAA/@",
    "Discord's webhook": "POST https://discord.com/api/webhooks/123456789012345678/@",
    "WireGuard": "PrivateKey = @",
    "Bearer in JSON": '{"headers":{"authorization":"Bearer @"}}',
    "proxy": "using HTTP_PROXY=http://u:@@proxy:3128",
    "prefix": "app-1  | 2026-01-01T00:00:00Z ERROR password=@",
    "export": "export API_TOKEN='@'",
    "PowerShell": '$env:API_KEY = "@"',
    "list of headers": "[('X-Auth-Token', '@')]",
    "Python": "{'password': '@'}",
    "Go": "{User:bob Password:@ Host:h}",
    "Java": "Config[user=bob, password=@]",
    "Rails": 'Parameters: {"user"=>{"password"=>"@"}}',
    "XML": "<password>@</password>",
    "HTML": '<input name="password" value="@">',
    "form": "client_secret=@&grant_type=x",
    "JSON in JSON": '"{\\"password\\":\\"@\\"}"',
    "JDBC": "jdbc:mysql://h/d?user=u&password=@",
    "CSRF": "X-CSRF-Token: @",
    "Redis": "requirepass @",
}
"""A line or two of a log, with a secret in the place of @."""


@dataclass(frozen=True)
class EncodedCanaries:
    """Many values that one environment holds, each written in every encoding into the log of its container.

    Attributes:
        lines: The log.
        needles: A telling part of each encoded value → what it is.
    """

    lines: tuple[str, ...]
    needles: dict[str, str]

    def found_in(self, text: str) -> list[str]:
        """What stands in a text, also behind the escapes of JSON and HTML, in which faces show it."""
        plain = text.replace("\\\\", "\\").replace('\\"', '"')
        shown = "\n".join({text, plain, plain.replace("\\\\", "\\"), html.unescape(text), html.unescape(plain)})
        if _search_of(tuple(self.needles)).search(shown) is None:
            return []
        return [what for needle, what in self.needles.items() if needle in shown]


@cache
def _search_of(needles: tuple[str, ...]) -> Any:
    options = re2.Options()
    options.max_mem = 64 * 2**20
    return re2.compile("|".join(map(re2.escape, needles)), options)


def encode_canaries() -> EncodedCanaries:
    """Write 200 values in all encodings; those that a line's end takes something from only where they stay whole."""
    lines: list[str] = []
    needles: dict[str, str] = {}
    for name, encode in ENCODINGS.items():
        for number, value in enumerate(CANARIES):
            if is_whole(value, encoded := encode(value)):
                lines += f"ERROR at /x: <{encoded}> failed, retrying in 5 s".split("\n")
                pieces = [piece for line in encoded.split("\n") if len(piece := line.strip(" \\")) >= _TELLING]
                needles |= {_parts(piece)[1]: f"value {number} in {name}" for piece in pieces}
    return EncodedCanaries(tuple(lines), needles)


def start_encoder(engine: TestEngine, encoded: EncodedCanaries, folder: Path, name: str) -> None:
    """Start a container that knows the values, writes all of them in all encodings, and fails."""
    (folder / "encoded").write_text("\n".join(encoded.lines) + "\n")
    (folder / "encoded.env").write_text("".join(f"SECRET_{n}={value}\n" for n, value in enumerate(CANARIES)))
    engine.docker(
        *("run", "-d", "--name", name, "--env-file", str(folder / "encoded.env")),
        *("-v", f"{folder / 'encoded'}:/encoded", engine.image, "sh", "-c", "cat /encoded >&2; exit 3"),
    )


def start_more(engine: TestEngine, canaries: Canaries, folder: Path) -> None:
    """Start containers for what the engine takes besides: shapes of logs, files of flags, drivers, exec, images."""
    password, token = canaries.password, canaries.token
    lines = [text.replace("@", password(f"log: {shape}"), 1) for shape, text in SHAPES.items()]
    telegram = canaries.keep("log: Telegram", "AA" + random_text(ALNUM, 33))
    lines.append(f"ERROR POST https://api.telegram.org/bot123456789:{telegram}/sendMessage")
    (folder / "shapes").write_text("\n".join(lines) + "\n")
    (folder / "flags.env").write_text(f"FLAG_PASSWORD={password('env file of a flag')}\n")
    (folder / "flags.labels").write_text(f"flag.password={password('label file of a flag')}\n")
    options = f"o=addr=10.0.0.1,username=u,password={password('volume option')}"
    engine.docker("volume", "create", "-o", "type=cifs", "-o", "device=//10.0.0.1/x", "-o", options, "vol2")
    network = ("-o", f"com.example.password={password('network option')}")
    engine.docker("network", "create", *network, "--ipam-opt", f"api.token={token('option of addresses')}", "net2")
    _build_image(engine, canaries)
    engine.docker(
        *("run", "-d", "--name", "shapes", "--network", "net2", "-v", f"{folder}/shapes:/shapes"),
        *("--env-file", str(folder / "flags.env"), "--label-file", str(folder / "flags.labels")),
        *("-e", f"HTTPS_PROXY=http://u:{password('proxy of the environment')}@proxy:3128"),
        *("-e", f"DSN=app:{password('data source')}@tcp(db:3306)/shop", "-e", f"PLAIN={token('innocent env, token')}"),
        *("--domainname", token("domain name", "gitlab"), "--dns-search", token("DNS search", "gitlab")),
        *("--workdir", f"/{token('working directory', 'gitlab')}", "--tmpfs", f"/{token('tmpfs', 'gitlab')}"),
        *(
            "--add-host",
            f"{token('extra host', 'gitlab')}:10.0.0.1",
        ),
        *("--network-alias", token("alias of a network", "gitlab")),
        *(engine.image, "sh", "-c", "cat /shapes >&2; exit 3"),
    )
    engine.docker("run", "-d", "--name", "steady", "--entrypoint", "sleep", "built:1", "1000")
    engine.docker("run", "-d", "--name", "built", "built:1")
    said = f"echo --password {password('exec command')}; exit 1"
    engine.docker("exec", "-e", f"EXEC_TOKEN={password('exec environment')}", "steady", "sh", "-c", said, check=False)
    nowhere = f"/nowhere/{token('source of a mount that is not there', 'gitlab')}"
    mount = ("--mount", f"type=bind,source={nowhere},target=/x")
    engine.docker("create", "--name", "unmounted", *mount, engine.image, check=False)
    engine.docker(
        "run", "-d", "--name", "intruder", "--user", token("user that is not there"), engine.image, check=False
    )


def _build_image(engine: TestEngine, canaries: Canaries) -> None:
    password, token = canaries.password, canaries.token
    health = f'HEALTHCHECK --interval=1s CMD ["sh", "-c", "false --password {password("health check of an image")}"]'
    changes = (
        f'ENTRYPOINT ["sh", "-c", "sleep 2; exit 5", "--api-key={password("entrypoint of an image")}"]',
        f'CMD ["--password", "{password("command of an image")}"]',
        health,
        f"VOLUME /{token('volume of an image', 'gitlab')}",
        f"WORKDIR /{token('working directory of an image', 'gitlab')}",
        f"ONBUILD ENV TOKEN={password('trigger of an image')}",
        f"ENV IMAGE_SECRET={password('secret env of an image')}",
    )
    engine.docker("create", "--name", "seed2", engine.image, "sh")
    author = f"me <https://u:{password('author of an image')}@h/>"
    engine.docker("commit", "-a", author, *(word for change in changes for word in ("-c", change)), "seed2", "built:1")
    engine.docker("rm", "seed2")


BROKEN = {
    "a duplicate key": "services: {{web: {{image: x, environment: {{A: 1}}}}}}\nservices: {secret}\n",
    "a scalar for a map": "services: {secret}\n",
    "a scalar for a service": "services: {{web: {secret}}}\n",
    "an unknown key": "services: {{web: {{image: x, {token}: 1}}}}\n",
    "a bad port": "services: {{web: {{image: x, ports: ['{secret}']}}}}\n",
    "a bad exposed port": "services: {{web: {{image: x, expose: ['{secret}']}}}}\n",
    "a bad duration": "services: {{web: {{image: x, stop_grace_period: '{secret}'}}}}\n",
    "a bad size": "services: {{web: {{image: x, mem_limit: '{secret}'}}}}\n",
    "a bad number": "services: {{web: {{image: x, scale: '{secret}'}}}}\n",
    "a bad boolean": "services: {{web: {{image: x, privileged: '{secret}'}}}}\n",
    "bad environment": "services: {{web: {{image: x, environment: ['{secret}', {{a: {secret}}}]}}}}\n",
    "a bad volume": "services: {{web: {{image: x, volumes: ['{secret}:{secret}:{secret}:{secret}']}}}}\n",
    "a bad reference": "services: {{web: {{image: x, environment: {{A: '${{SOME:?{secret} wanted}}'}}}}}}\n",
    "bad interpolation": "services: {{web: {{image: x, environment: {{A: '${{{secret}-!'}}}}}}\n",
    "bad YAML": "services:\n  web:\n    image: x\n   password: {secret}\n",
    "a tab": "services:\n\tpassword: {secret}\n",
    "an absent include": "include: ['/nowhere/{token}.yaml']\nservices: {{}}\n",
    "an absent env file": "services: {{web: {{image: x, env_file: '/nowhere/{token}'}}}}\n",
    "an undefined network": "services: {{web: {{image: x, networks: ['{token}']}}}}\n",
    "an undefined secret": "services: {{web: {{image: x, secrets: ['{token}']}}}}\n",
    "an unknown dependency": "services: {{web: {{image: x, depends_on: ['{token}']}}}}\n",
    "an unknown extends": "services: {{web: {{image: x, extends: {{service: '{token}'}}}}}}\n",
    "a bad ulimit": "services: {{web: {{image: x, ulimits: {{nofile: '{secret}'}}}}}}\n",
    "a bad restart": "services: {{web: {{image: x, restart: '{secret}'}}}}\n",
    "a bad image": "services: {{web: {{image: 'https://u:{secret}@h/x:y'}}}}\n",
    "a bad cpu count": "services: {{web: {{image: x, cpus: '{secret}'}}}}\n",
    "a bad label": "services: {{web: {{image: x, labels: ['{secret}', 3]}}}}\n",
    "a bad extra host": "services: {{web: {{image: x, extra_hosts: ['{secret}']}}}}\n",
    "a bad device": "services: {{web: {{image: x, devices: [{{source: '{secret}'}}]}}}}\n",
    "a bad name": "name: '{token}'\nservices: {{web: {{image: x}}}}\n",
}
"""Compose files that Compose refuses, or that break a rule, with a secret where the complaint may quote it."""


def write_broken(canaries: Canaries, folder: Path) -> list[Path]:
    """Write one broken Compose file for each way to break one."""
    files = []
    for number, (what, text) in enumerate(BROKEN.items()):
        directory = folder / f"broken{number}"
        directory.mkdir()
        file = directory / "compose.yaml"
        named = "{token}" in text
        place = f"Compose file with {what}"
        file.write_text(
            text.format(token=canaries.token(place, "gitlab"))
            if named
            else text.format(secret=canaries.password(place))
        )
        files.append(file)
    return files


INTERPOLATED = """
services:
  web:
    image: "{image}:${{TAG_TOKEN}}"
    entrypoint: ["sh", "-c", "{script}", "${{ENTRYPOINT_SECRET}}"]
    command: ["run", "--using", "${{COMMAND_PASSWORD}}", "u:${{BASIC_PASSWORD}}", "${{DEFAULT_TOKEN:-{default}}}"]
    hostname: "${{HOSTNAME_TOKEN}}"
    domainname: "${{DOMAIN_TOKEN}}"
    user: "${{USER_PIN_SECRET:-0}}"
    working_dir: "/${{WORKING_DIR_TOKEN}}"
    labels: ["x.basicauth=u:${{LABEL_PASSWORD}}", "x.${{LABEL_KEY_TOKEN}}=y"]
    annotations: {{x.note: "of ${{ANNOTATION_TOKEN}}"}}
    healthcheck:
      test: ["CMD", "sh", "-c", "echo probing as ${{PROBE_TOKEN}}; false", "${{HEALTH_PASSWORD}}"]
      interval: 1s
      retries: 1
    logging: {{driver: json-file, options: {{tag: "t-${{LOGGING_SECRET}}"}}}}
    extra_hosts: ["${{HOSTS_SECRET}}:10.0.0.9"]
    volumes: ["./${{BIND_SECRET}}:/${{TARGET_SECRET}}"]
    tmpfs: ["/${{TMPFS_SECRET}}:size=1m"]
    dns_search: ["${{SEARCH_SECRET}}"]
    networks: {{default: {{aliases: ["${{ALIAS_SECRET}}"], driver_opts: {{x.note: "${{OPTION_SECRET}}"}}}}}}
    restart: always
    {environment}
  refused:
    image: "{image}:${{TAG_TOKEN}}"
    user: "${{REFUSED_USER_SECRET}}"
    entrypoint: ["/nowhere/${{REFUSED_SECRET}}"]
"""
"""A service that takes a secret from `.env` in every field: none of them says so, and none has a shape."""

_SCRIPT = (
    "; ".join(
        (
            *("echo started with $$* as $$0 >&2", "echo basic $$(printf 'u:%s' ${{PRINTED_PASSWORD}} | base64 -w0)"),
            "echo ERROR login of ${{PRINTED_PASSWORD}} failed; sleep 4; exit 3",
        )
    )
    .replace("{{", "{")
    .replace("}}", "}")
)

INTERPOLATED_VARIABLES = (
    *("TAG_TOKEN", "ENTRYPOINT_SECRET", "COMMAND_PASSWORD", "BASIC_PASSWORD", "HOSTNAME_TOKEN", "DOMAIN_TOKEN"),
    *("WORKING_DIR_TOKEN", "LABEL_PASSWORD", "LABEL_KEY_TOKEN", "ANNOTATION_TOKEN", "PROBE_TOKEN", "HEALTH_PASSWORD"),
    *(
        "LOGGING_SECRET",
        "HOSTS_SECRET",
        "BIND_SECRET",
        "TARGET_SECRET",
        "TMPFS_SECRET",
        "SEARCH_SECRET",
        "ALIAS_SECRET",
    ),
    *("OPTION_SECRET", "PRINTED_PASSWORD", "REFUSED_USER_SECRET", "REFUSED_SECRET"),
)


def write_interpolated(
    engine: TestEngine, canaries: Canaries, folder: Path, project: str, round_name: str, default: str
) -> Path:
    """Write a project that interpolates secrets of `.env`, new ones at each call, and a default of the Compose file.

    A round whose name begins with "own" gives them to the container's environment as well.
    """
    values = {name: canaries.password(f"{name} of .env, {round_name}") for name in INTERPOLATED_VARIABLES}
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    own = round_name.startswith("own")
    environment = f"environment: [{', '.join(INTERPOLATED_VARIABLES)}]" if own else ""
    text = INTERPOLATED.format(
        image=engine.image.partition(":")[0],
        script=_SCRIPT,
        default=default,
        environment=environment,
    )
    (folder / "compose.yaml").write_text(f"name: {project}\n{text}")
    engine.docker("tag", engine.image, f"{engine.image.partition(':')[0]}:{values['TAG_TOKEN']}")
    return folder / "compose.yaml"


def start_interpolated(engine: TestEngine, folder: Path) -> None:
    """Bring the project up; one of its services cannot start."""
    engine.compose("up", "-d", "--pull", "never", cwd=folder, check=False)
