"""Capacity studies: questions to the simulator, and their answers as tables and pictures."""
