"""Riichi rules: pure, deterministic, no I/O, no clock, no random."""
