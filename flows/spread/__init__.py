"""A batch on several hosts."""
