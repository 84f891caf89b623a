"""A batch in an engine: this process's own, or a daemon's."""
