"""Whether the long forms of tests run, as in `make nightly` and `make chaos`; docs/development/runs.md lists them."""

import os

IS_NIGHTLY = os.environ.get("TEST_NIGHTLY") == "1"
