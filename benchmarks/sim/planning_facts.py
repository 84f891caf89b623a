"""The numbers in the prose of docs/planning.md, and where its commands print them."""

from benchmarks.sim.planning import Fact

MONTH = r"^sim run -w month.toml -m our-prover.toml --config planning.toml$"
BOTH = r"^sim compare -w .* --with machine.gpus=2 --with"
SLOTS = r"--with machine.synthesis_slots=12"
LEAST = r"--find memory"
SWEEP = r"--vary machine.gpus"
FIXED = r"^sim compare -t"
# A row of a table of points: what was varied, verdict, latency p90.
ROW = r"{} +{} +stable +([\d.]+)"

FACTS = (
    Fact(r"all month long, ([\d,]+) times", MONTH, r"evictions +([\d,]+)"),
    Fact(r"half of them take (\d+) s", MONTH, r"wpost-32g +([\d.]+) ± [\d.]+ s"),
    Fact(r"and (\d+) s in section 4", BOTH, r"latency_p50_s\[wpost-32g\] .*? s +([\d.]+) ± [\d.]+ s"),
    Fact(r"A month of this schedule is ([\d,]+) proofs", MONTH, r"proofs +([\d,]+) ±"),
    Fact(r"PoReps are done within (\d+) s in place", BOTH, ROW.format("384GiB", "–")),
    Fact(r"PoReps are done within \d+ s in place of (\d+)", BOTH, ROW.format("–", "–")),
    Fact(r"WindowPoSts within (\d+) s in place", BOTH, r"latency_p90_s\[wpost-32g\] .*? s +([\d.]+) ±"),
    Fact(r"WindowPoSts within \d+ s in place of ([\d.]+)", BOTH, r"latency_p90_s\[wpost-32g\] +([\d.]+) ±"),
    Fact(r"([\d.]+) % of 766 blocks are lost", BOTH, r"384GiB +– +stable .*? s +([\d.]+) \("),
    Fact(r"% of ([\d,]+) blocks are lost", BOTH, r"384GiB +– +stable .*% of ([\d,]+) winning-32g"),
    Fact(r"blocks are lost; 0 to ([\d.]+) %", BOTH, r"384GiB +– +stable .*? s +[\d.]+ \(0 to ([\d.]+)\)"),
    Fact(r"With ten months ([\d.]+) ±", SLOTS, r"– +stable .*? s +([\d.]+) ±"),
    Fact(r"With ten months [\d.]+ ± ([\d.]+) %", SLOTS, r"– +stable .*? s +[\d.]+ ± ([\d.]+) %"),
    Fact(r"with (\d+) slots none", SLOTS, r"(12) +stable .*? s +0 % of"),
    Fact(r"every `--goal` is met: (\d+) GiB do", LEAST, r"machine.memory=(\d+)GiB"),
    Fact(r"within the error: ([\d.]+) ± ", LEAST, r"does not hold: ([\d.]+) ±"),
    Fact(r"within the error: [\d.]+ ± ([\d.]+) min", LEAST, r"does not hold: [\d.]+ ± ([\d.]+) min"),
    Fact(r"beyond (\d+) GiB and one GPU", SWEEP, r">\*? +(\d+)GiB +2 "),
    Fact(r"the second GPU makes ([\d.]+) proofs", SWEEP, r">\*? +\S+ +2 +completes +([\d.]+)"),
    Fact(r"proofs an hour of ([\d.]+), for 900", SWEEP, r"320GiB +1 +completes +([\d.]+)"),
    Fact(r"worst case, (\d+), and", FIXED, r"fixed:(8) +completes"),
    Fact(r"and (\d+) would have run out of memory", FIXED, r"fixed:(10) +would run out of memory"),
)
