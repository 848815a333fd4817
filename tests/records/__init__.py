"""What is kept of turns, and what it proves."""
