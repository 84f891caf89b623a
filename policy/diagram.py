"""The states' page of the docs, made from the table: `python -m policy.diagram > docs/states.md`."""

from policy.decisions import Decision
from policy.states import TERMINAL, TRANSITIONS, PartitionState

_HEAD = """\
# The life of a partition

Made from the table in `policy/states.py` by `python -m policy.diagram > docs/states.md`; a test keeps the two
alike. An event that has no arrow in a state is refused and changes nothing. *Italic* names in the table are
decisions of the policy, the others events that the engine or the simulator reports. `Cancel` stands for the
end of the whole proof, be it by `Cancel`, by another partition's failure, or by a budget that has become too
small.
"""

_HELD = """\
## What is held

| state | slot | worker, device memory and SRS there | working set, SRS and PCE |
|---|---|---|---|
| waiting | | | |
| loading, ready | | | yes |
| synthesizing | yes | | yes |
| synthesized | | | yes |
| proving | | yes | yes |
| quotient done | | yes | without a, b and c |
| proved | | | |
| stopping | what was held at the stop, until the engine reports it free |||
| verified, failed, cancelled | | | |
"""


def page() -> str:
    return f"{_HEAD}\n```mermaid\n{mermaid()}```\n\n{table()}\n{_HELD}"


def mermaid() -> str:
    """Arrows with the same ends are one, labelled with all their triggers."""
    lines = ["stateDiagram-v2", f"    [*] --> {_name(PartitionState.WAITING)}"]
    for state, row in TRANSITIONS.items():
        targets: dict[PartitionState, list[str]] = {}
        for trigger, target in row.items():
            targets.setdefault(target, []).append(trigger.__name__)
        for target, triggers in targets.items():
            lines.append(f"    {_name(state)} --> {_name(target)}: {', '.join(triggers)}")
    lines += [f"    {_name(state)} --> [*]" for state in TERMINAL]
    return "\n".join(lines) + "\n"


def table() -> str:
    decisions = {kind.__name__ for kind in Decision.__args__}
    lines = ["| in state | upon | comes |", "|---|---|---|"]
    for state, row in TRANSITIONS.items():
        for trigger, target in row.items():
            name = trigger.__name__
            lines.append(f"| {state.value} | {f'*{name}*' if name in decisions else name} | {target.value} |")
    return "\n".join(lines) + "\n"


def _name(state: PartitionState) -> str:
    return state.name.lower()


if __name__ == "__main__":
    print(page(), end="")
