"""What a table of multiples of points is like (see `kernels.cpu.tables`), for those who only name or size it.

Wider windows take fewer additions, but their buckets, and more rows of points, leave the caches. 13 bits make
20 windows of both curves' scalars, and so 4 sets of buckets: equal shares for 1, 2 and 4 threads.
"""

WINDOW_BITS = 13
ROWS = 5
