"""The prover's steps on a GPU, beside those on the CPU in the folder above; the same keys, witnesses, proofs.

Imports `kernels.cuda`, so import nothing of it on a machine that has no GPU.
"""
