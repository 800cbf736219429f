"""One test file a symptom rule."""
