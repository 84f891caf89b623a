"""What a question is read from, wherever it is asked."""

from pathlib import Path

from flows.study.inputs import inputs_of
from flows.study.questions import QuestionParameters


def test_the_files_of_a_circuit_are_known_where_the_gpu_that_proves_it_is_not(tmp_path: Path) -> None:
    """As on a laptop, with the settings of the prover."""
    key, witness, settings = (tmp_path / name for name in ("porep.zkey", "porep.wtns", "cuzk.toml"))
    settings.write_text(
        f'[gpus]\ndevices = [0]\n[circuits.porep-32g]\nzkey = "{key}"\nwitness = "{witness}"\n'
    )
    found = inputs_of(QuestionParameters(circuit="porep-32g", config=settings))
    assert {key, witness, settings} <= set(found)
