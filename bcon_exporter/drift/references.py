"""Image references: when two spellings name the same image."""


def normalize_reference(reference: str) -> str:
    """Return the reference with registry, namespace and tag written out, as the engine resolves it."""
    name, at, digest = reference.partition("@")
    first, slash, rest = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    elif first in ("docker.io", "index.docker.io"):
        name = f"docker.io/{rest if '/' in rest else f'library/{rest}'}"
    if at:
        return f"{name}@{digest}"
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"
