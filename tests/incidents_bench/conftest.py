"""The engine of tests/docker, for the sample of cases."""

from tests.docker.conftest import engine, engine_of_session

__all__ = ["engine", "engine_of_session"]
