"""Measures provers: what a process takes, what a daemon delivers, what synthesis and its parallelism cost.

Every run has a folder of its own, in which nothing of another run is ever read or written.
"""
