"""Approvals in a turn: one human yes, one execution of exactly what was seen, and of nothing else."""
