"""Guards: text in, findings or a verdict out; pure."""
