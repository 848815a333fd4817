"""The model that runs here: fetching it, choosing it, running it."""
