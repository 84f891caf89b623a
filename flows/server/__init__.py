"""The Prefect server: the one that is named, or a local one and its process."""
