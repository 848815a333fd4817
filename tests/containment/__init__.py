"""Proof that outside text stays in its frame (N-07): slots, an oracle that shares nothing with the encoder, and twins."""
