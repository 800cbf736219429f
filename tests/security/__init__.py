"""Tests that attack: each holds one hole shut."""
