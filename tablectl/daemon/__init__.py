"""The daemon: one writer per table, effects derived from the journal, one loop for all of them."""
