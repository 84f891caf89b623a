"""Prefect flows: a batch of proofs as a DAG, and the server that shows it.

The flows themselves are here, by the names that deployments know, and what starts one from this process.
"""
