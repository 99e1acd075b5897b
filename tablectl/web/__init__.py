"""HTTP API, live streams and pages."""
