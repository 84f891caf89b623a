"""What a table of multiples of points is like (see `kernels.cpu.tables`), for those who only name or size it.

Wider windows take fewer additions, but their buckets, and more rows of points, leave the caches. 13 bits make
20 windows of both curves' scalars: equal shares for 1, 2 and 4 threads, and with ranges of points for their
multiples.
"""

WINDOW_BITS = 13
ROWS = 5
SETS = 4  # of buckets, each of as many windows as there are rows
