"""The policy under random machines, workloads and faults, with every rule checked after every event.

A seed makes a case (`generate`), a case runs on a machine in SimPy (`machine`) under a policy whose answers
are checked (`rules`) on books of the checker's own (`books`); a case that breaks a rule is cut down to
little (`trial`).
"""
