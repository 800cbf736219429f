"""What must be there before agents are served."""

from importlib.util import find_spec

from bcon_exporter.errors import SettingsError


def require_sdk(wanted_by: str) -> None:
    """Say what is missing where agents are to be served without the library of the protocol.

    Raises:
        SettingsError: It is not installed.
    """
    if find_spec("mcp") is None:
        msg = f"{wanted_by} needs the extra `mcp`: pip install 'bcon-exporter[mcp]', or '.[mcp]' in a clone"
        raise SettingsError(msg, {"setting": wanted_by})


def check_listener(setting: str, *, is_loopback: bool, has_users: bool) -> None:
    """Refuse to serve agents beyond loopback to anybody.

    Args:
        setting: The one that names the address at which the JSON API is served.
        is_loopback: Whether only this machine reaches that address.
        has_users: Whether the web configuration names any.

    Raises:
        SettingsError: Anybody could ask.
    """
    if is_loopback or has_users:
        return
    msg = (
        f"mcp.enable: {setting} is reached from beyond this machine and there are no users; set web.config.file with "
        "bearer_tokens or basic_auth_users, or serve the API on loopback with api.listen-address"
    )
    raise SettingsError(msg, {"setting": "mcp.enable"})
