"""A listener's TLS context, which is exchanged as a whole while the listener serves."""

import asyncio.sslproto
import ssl

asyncio.sslproto.SSLProtocol.max_size = 16 * 1024
"""Each TLS connection has from its first moment a buffer of this size for what it receives, by asyncio's own choice one
of 256 KiB. A TLS record is no longer."""


class ServedTls(ssl.SSLContext):
    """Gives each new connection the context in force then.

    A context that serves cannot be changed instead: one can give it certificate authorities, and take none away. Nor
    can a connection be moved to another context once the client's first words are read (`sni_callback`): OpenSSL takes
    that one's certificate, but goes on asking the client for what the first one asked for.

    Attributes:
        in_force: What connections from now on are made with.
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
        """Begin a connection; asyncio's way in."""
        return self.in_force.wrap_bio(incoming, outgoing, server_side, server_hostname, session)
