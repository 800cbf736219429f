"""How an Alertmanager is asked: user or token, and TLS, in the form of Prometheus' `http_config`."""

import base64
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import SecretStr, StringConstraints, model_validator

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.config_file import Strict, load_config
from bcon_exporter.regular_files import UnreadableFileError, check_regular_file, read_regular_file

_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_SECRET_MAX_BYTES = 64 * 1024


class BasicAuth(Strict):
    """User name and password; `password_file` is read anew for each request."""

    username: Annotated[str, StringConstraints(min_length=1, pattern=r"^[^:\x00-\x1f]+$")]
    password: SecretStr | None = None
    password_file: Path | None = None

    @model_validator(mode="after")
    def _check(self) -> "BasicAuth":
        if (self.password is None) == (self.password_file is None):
            msg = "needs either password or password_file"
            raise ValueError(msg)
        return self


class Authorization(Strict):
    """A token; `credentials_file` is read anew for each request."""

    type: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")] = "Bearer"
    credentials: SecretStr | None = None
    credentials_file: Path | None = None

    @model_validator(mode="after")
    def _check(self) -> "Authorization":
        if (self.credentials is None) == (self.credentials_file is None):
            msg = "needs either credentials or credentials_file"
            raise ValueError(msg)
        if self.type.lower() == "basic":
            msg = "type Basic is what basic_auth is for"
            raise ValueError(msg)
        return self


class TlsConfig(Strict):
    """Whom to believe and how to show oneself; TLS 1.0 and 1.1 are refused."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    server_name: Annotated[str, StringConstraints(min_length=1)] | None = None
    insecure_skip_verify: bool = False
    min_version: Literal["TLS12", "TLS13"] = "TLS12"

    @model_validator(mode="after")
    def _check(self) -> "TlsConfig":
        if (self.cert_file is None) != (self.key_file is None):
            msg = "cert_file and key_file belong together"
            raise ValueError(msg)
        return self


class HttpConfig(Strict):
    """The whole file."""

    basic_auth: BasicAuth | None = None
    authorization: Authorization | None = None
    tls_config: TlsConfig | None = None

    @model_validator(mode="after")
    def _check(self) -> "HttpConfig":
        if self.basic_auth is not None and self.authorization is not None:
            msg = "basic_auth and authorization exclude one another"
            raise ValueError(msg)
        return self


_NOTHING = HttpConfig()


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """What a request to an Alertmanager carries.

    Attributes:
        config: As written.
        folder: Where relative paths in it count from.
        tls: For https; None for what the system believes.
    """

    config: HttpConfig = _NOTHING
    folder: Path = Path()
    tls: ssl.SSLContext | None = None

    @property
    def server_name(self) -> str | None:
        """The name that the certificate must have; None for that of the address."""
        return self.config.tls_config.server_name if self.config.tls_config is not None else None

    def read_authorization(self) -> str | None:
        """Return the header Authorization, or None where none is sent. Reads the file that holds the secret.

        Raises:
            SettingsError: The file cannot be read, or is no single line.
        """
        basic, token = self.config.basic_auth, self.config.authorization
        if basic is not None:
            password = self._secret("basic_auth.password", basic.password, basic.password_file)
            return f"Basic {base64.b64encode(f'{basic.username}:{password}'.encode()).decode()}"
        if token is not None:
            secret = self._secret("authorization.credentials", token.credentials, token.credentials_file)
            if not secret or not secret.isascii() or not secret.isprintable():
                msg = "authorization.credentials: must be one line of ASCII characters"
                raise SettingsError(msg, {"key": "authorization.credentials"})
            return f"{token.type} {secret}"
        return None

    def _secret(self, key: str, written: SecretStr | None, file: Path | None) -> str:
        if written is not None or file is None:
            return written.get_secret_value() if written is not None else ""
        path = self.folder / file
        try:
            return read_regular_file(path, _SECRET_MAX_BYTES).decode().strip()
        except (UnreadableFileError, UnicodeDecodeError) as error:
            reason = "is not text" if isinstance(error, UnicodeDecodeError) else error
            msg = f"{key}_file: {path} {reason}"
            raise SettingsError(msg, {"key": f"{key}_file", "file": str(path)}) from None


def load_http_access(path: Path | None) -> HttpAccess:
    """Return what the file says; without one nothing is sent along, and the system's certificates count.

    Raises:
        SettingsError: It or a file that it names cannot be read, or a key is unknown or wrong; never quotes a value.
    """
    if path is None:
        return HttpAccess()
    config = load_config(path, HttpConfig)
    tls = config.tls_config
    try:
        access = HttpAccess(config, path.parent, None if tls is None else _make_tls_context(tls, path.parent))
        access.read_authorization()
    except SettingsError as error:
        msg = f"{path}: {error.message}"
        raise SettingsError(msg, {**error.details, "file": str(path)}) from None
    return access


def _make_tls_context(config: TlsConfig, folder: Path) -> ssl.SSLContext:
    named = {"ca_file": config.ca_file, "cert_file": config.cert_file, "key_file": config.key_file}
    for key, path in ((key, folder / file) for key, file in named.items() if file is not None):
        try:
            check_regular_file(path)
        except UnreadableFileError as error:
            msg = f"tls_config.{key}: {path} {error}"
            raise SettingsError(msg, {"key": f"tls_config.{key}"}) from None
    ca_file = None if config.ca_file is None else folder / config.ca_file
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one
        msg = f"tls_config.ca_file: {ca_file}: {_reason(error)}"
        raise SettingsError(msg, {"key": "tls_config.ca_file"}) from None
    context.minimum_version = _VERSIONS[config.min_version]
    if config.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.cert_file is not None and config.key_file is not None:
        cert_file, key_file = folder / config.cert_file, folder / config.key_file
        try:
            context.load_cert_chain(cert_file, key_file, password="")  # without one it would ask at the terminal
        except OSError as error:
            msg = f"tls_config.cert_file {cert_file} or its key_file {key_file}: {_reason(error)}"
            raise SettingsError(msg, {"key": "tls_config.cert_file"}) from None
    return context


def _reason(error: OSError) -> str:
    return (error.strerror or "").partition(" (")[0] or "not a certificate, or not its key"  # "(_ssl.c:4123)"
