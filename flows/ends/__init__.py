"""How flows end, and what is closed of those that died."""
