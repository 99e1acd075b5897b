"""One game through the whole bridge in one command: simulator, daemon, broker, subscriber and page."""
