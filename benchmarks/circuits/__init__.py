"""Circuits to measure with, and their witnesses, as files: two made here, and circomlib's SHA-256."""
