"""How fast the simulator is and how near to what is real: `python -m benchmarks.sim --help`."""
