"""Generated; see `daemon.proto`."""
