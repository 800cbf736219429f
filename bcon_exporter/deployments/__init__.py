"""Before and after a deployment: pure judgements over what was read of the host and of the Compose files."""
