"""The web configuration in force: users and TLS, read again on reload."""

from pathlib import Path

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.http.served_tls import ServedTls
from bcon_exporter.outputs.http.users import GoodPairs
from bcon_exporter.outputs.http.web_config import WebConfig, load_web_config, make_tls_context


class WebAccess:
    """Users and TLS of a web configuration file; without a file neither.

    Raises:
        SettingsError: The file, the certificate or its key cannot be used.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        config = WebConfig() if file is None else load_web_config(file)
        self._good_pairs = GoodPairs()
        self.users = config.make_users(self._good_pairs)
        tls = config.tls_server_config
        self.tls = None if tls is None else ServedTls.of(make_tls_context(tls))

    def reload(self) -> None:
        """Read the file again: new users count at once, new TLS settings for every new connection.

        Older connections end with their next request (`BoundedProtocol`).

        Raises:
            SettingsError: Something in it is wrong, or TLS was switched on or off; everything stays as it was.
        """
        if self._file is None:
            return
        config = load_web_config(self._file)
        tls = config.tls_server_config
        if (tls is None) != (self.tls is None):
            msg = f"{self._file}: TLS is switched on or off by a restart only"
            raise SettingsError(msg, {"file": str(self._file)})
        if tls is not None and self.tls is not None:
            self.tls.in_force = make_tls_context(tls)
        self.users = config.make_users(self._good_pairs)
