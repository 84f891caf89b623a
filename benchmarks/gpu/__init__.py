"""What is measured on a GPU: circuits too large for matrices in memory, with keys whose proofs verify."""
