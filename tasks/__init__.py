"""Prefect tasks: the nodes of a proof's DAG, each as long as the engine's stage that it shows."""
