"""Faults on purpose: scripts of sentences, and what each sentence does to line, board, machine, sensors, people."""
