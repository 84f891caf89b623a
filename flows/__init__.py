"""Prefect flows: a batch of proofs as a DAG, and the server that shows it."""
