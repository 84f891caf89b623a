"""What a batch is given, and what that asks of the engine."""
