"""The only home of JAX: what builds a network, runs it, and counts what the traced program really does."""
