"""Training a network: the loop over epochs, its steps, devices, checkpoints, and the result."""
