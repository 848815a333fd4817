"""A person at a terminal, and a program at a pipe."""
