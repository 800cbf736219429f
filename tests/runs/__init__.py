"""What `make test`, `make test-all` and `make nightly` run, lane by lane; docs/development/runs.md is their page."""
