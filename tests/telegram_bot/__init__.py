"""Tests of the Telegram bot (not named after the library, which they would stand in front of)."""
