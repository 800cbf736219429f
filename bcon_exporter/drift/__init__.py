"""Pure drift detection: desired projects and facts in, differences out."""
