"""More than this is a slip, and would only exhaust the machine."""

MOST = 10_000  # threads, workers, partitions of a proof, proofs at a time
MOST_PROOFS = 1_000_000  # of a batch, or partitions of a tortured seed
MOST_BATCH_WAIT_MS = 86_400_000  # a day
