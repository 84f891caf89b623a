"""The programs that are measured, each in a process of its own, so that none disturbs another.

A contestant reads a task a line from stdin, as JSON, and answers with a line on stdout. It prepares a task
untimed, such as reading points into the library's own objects, then times the work alone. `serve` is its end
of this for those in Python, `process` the other end, `registry` the list of them.
"""
