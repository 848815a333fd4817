"""Stores: where what changes is kept; all pass the same suite."""
