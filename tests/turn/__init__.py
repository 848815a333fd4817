"""Turns with a scripted model; the real one is in tests/local."""
