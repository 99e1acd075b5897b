"""Game records in and out."""
