"""The faces: they show reports and decide nothing."""
