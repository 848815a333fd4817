"""The API from outside: every route, every role, every way to be refused."""
