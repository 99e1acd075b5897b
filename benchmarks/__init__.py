"""Ratios measured in one run against a floor or a peer; never asserted in a timed test."""
