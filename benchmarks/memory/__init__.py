"""Whether the engine keeps its promises about memory: `python -m benchmarks.memory --help`."""
