"""A listener's TLS context that can be replaced while the listener serves."""

import asyncio.sslproto
import ssl

asyncio.sslproto.SSLProtocol.max_size = 16 * 1024
"""The receive buffer of each TLS connection: the size of a TLS record. asyncio takes 256 KiB."""


class ServedTls(ssl.SSLContext):
    """Gives each new connection the context in force then.

    Changing the context that serves is no way: certificate authorities can be added to it, but not removed. Nor is
    `sni_callback`: OpenSSL then takes the new certificate, but asks the client for what the old context demands.

    Attributes:
        in_force: The context of new connections.
    """

    in_force: ssl.SSLContext

    @classmethod
    def of(cls, context: ssl.SSLContext) -> "ServedTls":
        """Return one with this context in force."""
        served = cls(ssl.PROTOCOL_TLS_SERVER)
        served.in_force = context
        return served

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002 -- as asyncio calls it
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """Begin a connection; asyncio calls it."""
        return self.in_force.wrap_bio(incoming, outgoing, server_side, server_hostname, session)
