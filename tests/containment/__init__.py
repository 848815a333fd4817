"""Proof that outside text stays in its frame (N-07): slots, an oracle of its own, and twins."""
