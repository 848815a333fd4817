"""Turns that come again by the clock."""
