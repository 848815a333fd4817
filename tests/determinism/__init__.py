"""Proof that the same request gives the same bytes everywhere (S1-03, S1-05, N-01)."""
