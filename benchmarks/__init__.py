"""How fast the engine is: every figure beside a peer's, measured in one run on one machine.

`python -m benchmarks` measures, `python -m benchmarks report RESULT.json…` writes `docs/performance.md`.
`circuits` makes what is proved, `contestants` are the programs that compete, each in a process of its own,
`suites` say what is measured, `counts` how many field products it takes, `bars` what is to be reached.
"""
