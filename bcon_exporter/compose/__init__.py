"""Runs the real Compose binary and turns its answers into desired projects."""
