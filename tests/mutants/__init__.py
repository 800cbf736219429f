"""Each guard of the package broken once, to see that a test finds it: `make mutants`."""
