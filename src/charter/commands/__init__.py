"""Groups of commands: each file one word after `charter`, each command a few lines over the library."""
