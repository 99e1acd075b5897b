"""The wire between host and table: messages, framing, link; shared by host, simulator and firmware."""
