"""Alembic's environment and the revisions, one file each."""
