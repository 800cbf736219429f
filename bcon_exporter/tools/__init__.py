"""The eleven tools and their one registry."""
