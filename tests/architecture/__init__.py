"""The house rules, kept by tests."""
