"""Turns that fail in every way: the right error, nothing half recorded, the message waits, the next turn is fine."""
