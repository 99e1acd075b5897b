"""Conformance test of a device: what SPEC.md demands of it, tried from outside, in real time."""
