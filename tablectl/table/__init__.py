"""One table: its port, link, device and the life of that connection."""
