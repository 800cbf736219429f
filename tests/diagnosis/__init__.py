"""The diagnosis is a pure function of snapshots."""
