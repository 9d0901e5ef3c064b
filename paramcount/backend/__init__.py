"""The only home of JAX: networks are run, traced, proved, measured and trained here."""
