"""The web face: metrics, JSON API and pages on one or two listeners, behind one gate."""

from bcon_exporter.outputs.http.access_control import ListenerPolicy
from bcon_exporter.outputs.http.connections import Connections
from bcon_exporter.outputs.http.listeners import Listener, bind, close_all, serve_all
from bcon_exporter.outputs.http.rate_limits import RateLimits
from bcon_exporter.outputs.http.routes import Site, make_site
from bcon_exporter.outputs.http.users import Users
from bcon_exporter.outputs.http.web_config import WebConfig, load_web_config, make_tls_context

__all__ = [
    "Connections",
    "Listener",
    "ListenerPolicy",
    "RateLimits",
    "Site",
    "Users",
    "WebConfig",
    "bind",
    "close_all",
    "load_web_config",
    "make_site",
    "make_tls_context",
    "serve_all",
]
