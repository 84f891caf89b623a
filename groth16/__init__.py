"""Groth16: its files (circuit, keys, witness, proof) and its steps (setup to verify)."""
