"""The history's promises: what it costs, how small and how quick it is, and that it loses nothing."""
