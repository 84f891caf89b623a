"""What the options of a question set. Each thing is said once, since of two values one would go unheard."""

from collections.abc import Iterable, Mapping

from flows.study.questions import QuestionParameters
from sim import SimError
from sim.settings import covers, read_settings

STANDS_FOR = {
    "budget": "memory.total_budget",
    "policy": "policy",
    "count": "workload.count",
    "concurrency": "workload.concurrency",
}
"""Options that have a setting's value of their own."""


def given_settings(parameters: QuestionParameters) -> dict[str, str]:
    """What --set gives. Raises SimError for what is given twice."""
    given = read_settings(parameters.settings)
    _check_options(parameters, "--set", given)
    return given


def changed(given: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """What is given, but for what the settings say anew: of one host or circuit, or of all."""
    kept = {key: value for key, value in given.items() if not any(covers(each, key) for each in settings)}
    return kept | dict(settings)


def check_varied(
    parameters: QuestionParameters, given: Mapping[str, str], option: str, keys: Iterable[str]
) -> None:
    """Raises SimError where `option` tries values for one of the keys that is given a value, too."""
    keys = list(keys)
    _check_options(parameters, option, keys)
    for key in keys:
        if (fixed := next((each for each in given if covers(key, each)), None)) is not None:
            raise SimError(
                f"--set {fixed}={given[fixed]} is in vain: {option} has other values of {key}; "
                "leave one of the two out"
            )


def check_policy_is_compared(parameters: QuestionParameters, given: Mapping[str, str]) -> None:
    """Raises SimError for a policy that is given where all policies are compared."""
    if "policy" in given or "policy" in parameters.model_fields_set:
        option = "--set policy" if "policy" in given else "--policy"
        raise SimError(
            f"{option} is in vain: without --with every policy is compared; leave it out, "
            "or give the other policies by --with policy=…"
        )


def _check_options(parameters: QuestionParameters, option: str, keys: Iterable[str]) -> None:
    keys, said = list(keys), parameters.model_fields_set
    for name, stands_for in STANDS_FOR.items():
        twin = next((key for key in keys if covers(stands_for, key)), None)
        if name in said and twin is not None:
            raise SimError(
                f"--{name} and {option} {twin} are both given, and one alone can hold; leave the other out"
            )
