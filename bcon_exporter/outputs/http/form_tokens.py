"""Tokens that the page's form carries: each good for one user and as long as this process lives."""

import hmac
import secrets

from bcon_exporter.outputs.http.replies import Scope
from bcon_exporter.outputs.http.users import parse_basic, parse_bearer

_KEY = secrets.token_bytes(32)


def form_token(scope: Scope) -> str:
    """Return the token for who sends a request; without users it is the same for all."""
    return hmac.digest(_KEY, _user_of(scope).encode(), "sha256").hex()


def is_own_form(scope: Scope, token: str) -> bool:
    """Return whether a form was made here for who sends it now, and sent from a page of ours.

    The gate has refused other origins. Browsers send Origin with each form; what sends none is none of ours.
    """
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    is_from_here = "origin" in headers and headers.get("sec-fetch-site", "same-origin") == "same-origin"
    return is_from_here and hmac.compare_digest(token.encode(), form_token(scope).encode())


def _user_of(scope: Scope) -> str:
    """Return what tells the user whom the gate has let in from any other: a name or a token; empty for none."""
    header = next((value for name, value in scope["headers"] if name.lower() == b"authorization"), b"").decode(
        "latin-1"
    )
    if (credentials := parse_basic(header)) is not None:
        return f"user {credentials.name}"
    token = parse_bearer(header)
    return "" if token is None else f"token {token.decode('latin-1')}"
