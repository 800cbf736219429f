"""The only importer of docker: the engine's answers become one immutable HostSnapshot. Read-only by construction."""
