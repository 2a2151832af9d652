"""What carries bytes between server and clients."""
