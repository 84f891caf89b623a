"""Whether a daemon keeps its promises: to clients, under load, for hours, and against what is sent to it."""
