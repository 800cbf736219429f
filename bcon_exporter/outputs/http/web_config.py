"""The web configuration file in the format of Prometheus' exporter-toolkit: TLS and users; and bearer tokens."""

import ssl
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.config_file import Problem, Strict, describe_problem, load_config
from bcon_exporter.outputs.http.users import GoodPairs, Users
from bcon_exporter.regular_files import UnreadableFileError, check_regular_file

_BCRYPT_PATTERN = r"^\$2[aby]?\$[0-9]{2}\$[./A-Za-z0-9]{53}$"
_TOKEN_SCHEME = "sha256:"  # noqa: S105 -- says how a token is written
_TOKEN_PATTERN = rf"^{_TOKEN_SCHEME}[0-9a-f]{{64}}$"
_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2, whose CBC suites were broken time and again; those of 1.3 are all good."""
_CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}


class TlsServerConfig(Strict):
    """How the server shows itself, and what it asks of clients.

    Client certificates that are asked for without being verified prove nothing, so those two modes of the toolkit
    are refused; so are TLS 1.0 and 1.1.
    """

    cert_file: Path
    key_file: Path
    client_auth_type: Literal["NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"] = "NoClientCert"
    client_ca_file: Path | None = None
    min_version: Literal["TLS12", "TLS13"] = "TLS12"
    max_version: Literal["TLS12", "TLS13"] = "TLS13"

    @model_validator(mode="after")
    def _check(self) -> "TlsServerConfig":
        if self.client_auth_type != "NoClientCert" and self.client_ca_file is None:
            msg = f"client_auth_type {self.client_auth_type} needs client_ca_file"
            raise ValueError(msg)
        if self.client_ca_file is not None and self.client_auth_type == "NoClientCert":
            msg = "client_ca_file without client_auth_type checks nobody; set RequireAndVerifyClientCert"
            raise ValueError(msg)
        return self


class HttpServerConfig(Strict):
    """Accepted so that a shared file works; HTTP/1.1 is what is served."""

    http2: bool = False


class WebConfig(Strict):
    """The whole file."""

    tls_server_config: TlsServerConfig | None = None
    http_server_config: HttpServerConfig | None = None
    basic_auth_users: dict[
        Annotated[str, StringConstraints(min_length=1, pattern=r"^[^:\x00-\x1f]+$")],
        Annotated[str, StringConstraints(pattern=_BCRYPT_PATTERN)],
    ] = Field(default_factory=dict)
    bearer_tokens: dict[
        Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^:\x00-\x1f]+$")],
        Annotated[str, StringConstraints(pattern=_TOKEN_PATTERN)],
    ] = Field(default_factory=dict)

    def make_users(self, good_pairs: GoodPairs | None = None) -> Users | None:
        """Return the users, who share what is remembered of good pairs; None when the file names none."""
        if not self.basic_auth_users and not self.bearer_tokens:
            return None
        tokens = {name: digest.removeprefix(_TOKEN_SCHEME) for name, digest in self.bearer_tokens.items()}
        return Users(self.basic_auth_users, good_pairs, tokens)


def load_web_config(path: Path) -> WebConfig:
    """Return the file's content; relative paths in it count from its folder, as in the toolkit.

    Raises:
        SettingsError: It cannot be read, or a key is unknown or wrong; never quotes a value.
    """
    config = load_config(path, WebConfig, _describe)
    tls = config.tls_server_config
    if tls is None:
        return config
    files = {name: path.parent / getattr(tls, name) for name in ("cert_file", "key_file")}
    if tls.client_ca_file is not None:
        files["client_ca_file"] = path.parent / tls.client_ca_file
    return config.model_copy(update={"tls_server_config": tls.model_copy(update=files)})


def _describe(problem: Problem) -> str:
    """User names are no secrets, but nobody needs them in a log either."""
    if problem["loc"][:1] == ("basic_auth_users",) and len(problem["loc"]) > 1:
        return "basic_auth_users: each user needs a bcrypt hash ($2b$…), as `htpasswd -nBC 10 USER` prints it"
    if problem["loc"][:1] == ("bearer_tokens",) and len(problem["loc"]) > 1:
        return "bearer_tokens: each name needs sha256: and 64 hexadecimal digits, as `sha256sum` prints them"
    return describe_problem(problem)


def make_tls_context(config: TlsServerConfig) -> ssl.SSLContext:
    """Return a server's TLS context.

    Raises:
        SettingsError: A file cannot be read or is no certificate or key.
    """
    for path in filter(None, (config.cert_file, config.key_file, config.client_ca_file)):
        try:
            check_regular_file(path)
        except UnreadableFileError as error:
            msg = f"tls_server_config: {path} {error}"
            raise SettingsError(msg, {"file": str(path)}) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(_CIPHERS)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.minimum_version, context.maximum_version = _VERSIONS[config.min_version], _VERSIONS[config.max_version]
    context.verify_mode = _CLIENT_AUTH[config.client_auth_type]
    try:
        context.load_cert_chain(config.cert_file, config.key_file, password="")  # else it would ask at the terminal
        if config.client_ca_file is not None:
            context.load_verify_locations(cafile=config.client_ca_file)
    except OSError as error:  # ssl.SSLError is one
        reason = (error.strerror or "not a certificate and its key").partition(" (")[0]  # "(_ssl.c:4123)"
        msg = f"the certificate {config.cert_file}, its key or the client CA cannot be used: {reason}"
        raise SettingsError(msg, {"file": str(config.cert_file)}) from None
    return context
