"""The simulator's words for who uses the form: its fields in place of the options of `cuzk sim`."""

FIELDS = {
    ", or leave --pictures, --html and --trace out": "",
    "a circuit by --type": "a Circuit",
    "--workload FILE": "a Workload",
    "--machine": "Machine",
    "--goal": "Goals",
    "--late": "May be late",
    "--step": "Step",
    "--find": "Looked for",
    "--policy": "Policy",
    "--budget": "Memory budget",
    "--count": "Proofs",
    "--concurrency": "At a time",
    "--set ": "",  # what is set says by its key in which field it is
    "--set": "Settings",
    "--vary ": "",
    "--vary": "Varied",
    "--with ": "",
    "--with": "Other settings",
}
"""By what `cuzk sim` calls it."""


def in_the_form(words: str) -> str:
    """The same with the names of the form."""
    for option, field in FIELDS.items():
        words = words.replace(option, field)
    return words
