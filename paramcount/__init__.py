"""What a neural network costs, exactly, before anyone builds it."""
