"""The gateway, as the official clients see it."""
