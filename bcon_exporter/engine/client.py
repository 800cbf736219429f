"""docker-py's low-level client, made unable to write, to wait for ever, or to be led elsewhere.

All of its requests pass `send()`, where the allow-list stands, and leave through our own transport: one wall-clock
deadline a call (docker-py's time-out is per received piece: a trickling daemon outlasts it), no redirects, no proxies.
"""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import docker.auth
import docker.errors
from docker.constants import DEFAULT_TIMEOUT_SECONDS
from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

import docker
from bcon_exporter.engine.address import Dialer
from bcon_exporter.engine.allowlist import check_request
from bcon_exporter.engine.api_version import OLDEST_API, format_version
from bcon_exporter.engine.http import Batch, fetch_one
from bcon_exporter.engine.parse import decode_json


class _DeadlineTransport(BaseAdapter):
    """Sends one request over a connection of its own, within a wall-clock limit."""

    def __init__(self, dialer: Dialer, batch: Batch) -> None:
        super().__init__()
        self._dialer, self._batch = dialer, batch

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: FBT001, FBT002, ARG002 - as above
        timeout: Any = None,
        verify: bool | str = True,  # noqa: FBT001, FBT002, ARG002 - as above
        cert: Any = None,  # noqa: ARG002 - as above
        proxies: Any = None,  # noqa: ARG002 - as above; never used: no proxies from anywhere
    ) -> Response:
        seconds = float(timeout) if isinstance(timeout, int | float) else self._batch.seconds
        answer = fetch_one(
            self._dialer, str(request.path_url), replace(self._batch, seconds=seconds, request_seconds=seconds)
        )
        response = Response()
        response.status_code = answer.status
        response.headers = CaseInsensitiveDict({"Content-Type": answer.header("content-type") or ""})
        response.raw = io.BytesIO(answer.body)
        response.url = request.url or ""
        response.request = request
        response.encoding = "utf-8"
        return response

    def close(self) -> None:
        """Hold nothing between requests."""


class ReadOnlyClient(docker.APIClient):
    """docker-py's low-level client for one engine, limited to the reads of the allow-list.

    Making one does no network I/O; `use_version` is called once the version has been negotiated. It may be used by
    several threads; `limit` counts for the calling thread.
    """

    def __init__(self, dialer: Dialer, batch: Batch) -> None:
        url = dialer.endpoint.url
        base = url if url.startswith("unix://") else f"http://{urlsplit(url).netloc}"
        super().__init__(base_url=base, version=format_version(OLDEST_API), timeout=DEFAULT_TIMEOUT_SECONDS)
        self._seconds = batch.seconds
        # docker-py has read the user's registry credentials and proxies from ~/.docker/config.json: forget them
        self._general_configs: dict[str, Any] = {}
        self._auth_configs = docker.auth.AuthConfig({})
        self.trust_env = False
        self.max_redirects = 0
        self._limits = threading.local()
        self.adapters.clear()
        transport = _DeadlineTransport(dialer, batch)
        for prefix in ("http+docker://", "http://"):
            self.mount(prefix, transport)

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        """Send a request that is an allowed read.

        Raises:
            RequestRefusedError: It is not.
        """
        check_request(request.method, str(request.path_url))
        return super().send(request, **kwargs)

    def use_version(self, version: tuple[int, int]) -> None:
        """Speak this API version from now on."""
        self._version = format_version(version)

    @contextmanager
    def limit(self, seconds: float) -> Iterator["ReadOnlyClient"]:
        """Give each call of this thread within the block this wall-clock limit."""
        self._limits.seconds = seconds
        try:
            yield self
        finally:
            del self._limits.seconds

    def _set_request_timeout(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        kwargs["timeout"] = getattr(self._limits, "seconds", self._seconds)
        return kwargs

    def _raise_for_status(self, response: Response) -> None:
        """Raise for 4xx and 5xx; docker-py's own reads the body first and trips over JSON without a message."""
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise docker.errors.APIError(str(response.status_code), response=response)

    def _result(  # our own decoder survives what an engine should not send
        self,
        response: Response,
        json: bool = False,  # noqa: FBT001, FBT002 - docker-py's signature
        binary: bool = False,  # noqa: FBT001, FBT002 - as above
    ) -> Any:
        self._raise_for_status(response)
        if json:
            return decode_json(response.content)
        return response.content if binary else response.text
