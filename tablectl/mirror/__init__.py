"""Hardware facts in, engine commands out: the perception of a physical hand."""
