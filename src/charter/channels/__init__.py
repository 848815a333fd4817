"""Where messages come from and replies go; a channel knows who speaks, and how its replies look."""
