"""Append-only SQLite store: what happened, snapshots, outbox."""
