"""Nothing to manage."""
