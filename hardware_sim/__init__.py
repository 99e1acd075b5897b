"""A table without a table: physics, faults, people; speaks firmware_protocol and knows no rules."""
