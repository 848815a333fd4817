"""One history of the tables for both databases; imported only when a database is migrated."""
