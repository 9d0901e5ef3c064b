"""Training a network that was counted: losses, metrics, data, checkpoints, the loop."""
