"""Compiled kernels are kept, and never used once any source has changed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROBE = """
import json, os, sys
before = "numba" in sys.modules
import kernels.cache
note = kernels.cache.note_of("test")
told = not note.exists()
note.touch()
import numpy as np
from kernels.cpu import field, ntt, spmv, vectors64
from kernels.fields import BN254
compiled = list(__import__("pathlib").Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi"))
a = np.ones((1, 4), np.uint64)
vectors64.multiply(BN254.fr, a, a, a, 0, 1)
hits = sum(vectors64.multiply.stats.cache_hits.values())
path = os.environ["NUMBA_CACHE_DIR"]
print(json.dumps([before, told, bool(compiled), hits, path]))
"""


@pytest.fixture
def tree(tmp_path):
    """A copy of the sources, so that a change does not touch anybody else's."""
    shutil.copytree(
        ROOT / "kernels", tmp_path / "tree" / "kernels", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "tree"


def run_python(code, tree, **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "CUZK_HOME")}
    environment = {**kept, "HOME": str(tree / "user"), "PYTHONPATH": str(tree), **environment}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def name_of(tree):
    return run_python("import json, kernels.cache as c; print(json.dumps('numba-' + c.sources_hash()))", tree)


def test_importing_compiles_nothing_and_a_second_process_reads_the_cache(tree):
    home = tree / "home"
    path = str(home / name_of(tree))
    assert run_python(PROBE, tree, CUZK_HOME=str(home)) == [False, True, False, 0, path]
    assert run_python(PROBE, tree, CUZK_HOME=str(home)) == [False, False, True, 1, path]


FOLDER = "import json, os, kernels; print(json.dumps(os.environ['NUMBA_CACHE_DIR']))"


def test_where_the_folder_is(tree):
    name = name_of(tree)
    assert len(name) == len("numba-") + 16
    xdg, own = tree / "xdg", tree / "own"
    assert run_python(FOLDER, tree) == str(tree / "user" / ".cache" / "cuzk" / name)
    assert run_python(FOLDER, tree, XDG_CACHE_HOME=str(xdg)) == str(xdg / "cuzk" / name)
    assert run_python(FOLDER, tree, XDG_CACHE_HOME=str(xdg), CUZK_HOME=str(own)) == str(own / name)
    given = run_python(FOLDER, tree, NUMBA_CACHE_DIR=str(own), CUZK_HOME=str(xdg))
    assert given == str(own / name)
    assert run_python(FOLDER, tree, NUMBA_CACHE_DIR=given) == given  # what a child process inherits


def test_numba_imported_before_uses_the_folder_too(tree):
    code = "import json, numba, kernels; print(json.dumps(numba.config.CACHE_DIR))"
    assert run_python(code, tree, CUZK_HOME=str(tree)) == str(tree / name_of(tree))


def test_a_folder_that_cannot_be_written_is_replaced_for_the_life_of_the_process(tree):
    (tree / "file").write_text("not a folder")
    path = Path(run_python(FOLDER, tree, CUZK_HOME=str(tree / "file"), TMPDIR=str(tree)))
    assert path.parent.parent == tree
    assert path.name == name_of(tree)
    assert not path.parent.exists()


STAND_IN = """
import json, kernels.cache as cache
from pathlib import Path
cache._make_stand_in(Path("kept").absolute())
place = cache._stand_ins[0].temporary / "kept"
found = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
print(json.dumps([found, str(cache.unwritable_folder()), (place / "sub/a.nbi").read_text()]))
"""


def test_what_was_compiled_into_a_folder_that_is_now_read_only_is_used(tree):
    (tree / "kept" / "sub").mkdir(parents=True)
    for name in ("sub/a.nbi", "sub/a.1.nbc", "prove bn254 0.done", "saving.lock"):
        (tree / "kept" / name).write_text(name)
    found, unwritable, text = run_python(STAND_IN, tree, CUZK_HOME=str(tree / "home"))
    assert found == ["prove bn254 0.done", "sub/a.1.nbc", "sub/a.nbi"]
    assert unwritable == str(tree / "kept")
    assert text == "sub/a.nbi"


FULL = """
import json, logging, errno
import kernels.cpu
from numba.core.caching import IndexDataCacheFile
told = []
logging.getLogger("cuzk.kernels").addFilter(lambda record: told.append(record.getMessage()))
file = IndexDataCacheFile("nowhere", "kernel", "stamp")
for key in "ab":
    file.save(key, key)
print(json.dumps(told))
"""


def test_a_kernel_that_cannot_be_kept_is_one_warning_and_no_error(tree):
    (told,) = run_python(FULL, tree, CUZK_HOME=str(tree / "home"))
    assert "compiled kernels cannot be kept (No such file or directory)" in told


@pytest.mark.parametrize("change", ["edit", "rename", "add"])
def test_any_change_of_a_source_gives_another_folder(tree, change):
    before = name_of(tree)
    assert name_of(tree) == before
    kernels = tree / "kernels"
    if change == "edit":
        (kernels / "cpu" / "adx.py").write_text((kernels / "cpu" / "adx.py").read_text() + "\n")
    elif change == "rename":
        (kernels / "encoding.py").rename(kernels / "encodings.py")
    else:
        (kernels / "cpu" / "more.py").write_text("")
    assert name_of(tree) != before


NOTE = "import json, kernels.cache; print(json.dumps(str(kernels.cache.note_of('prove bn254'))))"


def test_what_was_compiled_for_another_processor_is_not_for_this_one(tree):
    here = run_python(NOTE, tree)
    assert run_python(NOTE, tree) == here
    assert run_python(NOTE, tree, CUZK_LANES="off") != here
    assert run_python(NOTE, tree, CUZK_LANES="auto") == run_python(NOTE, tree, CUZK_LANES="") == here
    assert run_python(NOTE, tree, NUMBA_CPU_NAME="generic") != here


SAVE_MANY = """
import sys
import kernels.cpu
from numba.core.caching import IndexDataCacheFile
file = IndexDataCacheFile(sys.argv[1], "kernel", "stamp")
for number in range(40):
    key = f"{sys.argv[2]} {number}"
    file.save(key, key)
"""


def test_processes_that_compile_one_kernel_at_once_lose_and_mix_up_nothing(tmp_path):
    from numba.core.caching import IndexDataCacheFile

    import kernels.cpu  # noqa: F401 — changes how files are loaded

    savers = [subprocess.Popen([sys.executable, "-c", SAVE_MANY, tmp_path, name], cwd=ROOT) for name in "abc"]
    assert [saver.wait() for saver in savers] == [0, 0, 0]
    file = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    keys = [f"{name} {number}" for name in "abc" for number in range(40)]
    assert [file.load(key) for key in keys] == keys


DAMAGES = {
    "emptied": lambda _: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "random": lambda content: bytes(17 * i % 251 for i in range(len(content))),
    "one bit": lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
}
USE = """
import json, logging, os
from pathlib import Path
told = []
logging.getLogger("cuzk.kernels").addFilter(lambda record: told.append(record.getMessage()))
import kernels.cpu
from numba import njit
from used import triple
folder = Path(os.environ["NUMBA_CACHE_DIR"])
(folder / "prove bn254.done").touch()
result = triple(14)
noted = (folder / "prove bn254.done").exists()
print(json.dumps([result, sum(triple.stats.cache_hits.values()), told, noted]))
"""


@pytest.mark.parametrize("kind", [".nbi", ".nbc"])
def test_damaged_kernels_are_compiled_again_in_a_word(tree, kind):
    (tree / "used.py").write_text(
        "from numba import njit\n@njit(cache=True)\ndef triple(x):\n    return 3 * x\n"
    )
    home = tree / "home"
    assert run_python(USE, tree, CUZK_HOME=str(home)) == [42, 0, [], True]
    (file,) = home.rglob(f"used.*{kind}")
    sound = file.read_bytes()
    for damage in DAMAGES.values():
        file.write_bytes(damage(sound))
        result, hits, (told,), noted = run_python(USE, tree, CUZK_HOME=str(home))
        assert (result, hits, noted) == (42, 0, False)
        assert told.endswith("has damaged files; their kernels are compiled again")
    assert run_python(USE, tree, CUZK_HOME=str(home)) == [42, 1, [], True]


def test_what_was_saved_for_other_types_is_never_loaded(tmp_path):
    from numba.core.caching import IndexDataCacheFile

    import kernels.cpu  # noqa: F401 — changes how files are loaded

    file = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    for key in "ab":
        file.save(key, key)
    (tmp_path / "kernel.1.nbc").replace(tmp_path / "kernel.2.nbc")
    assert [file.load(key) for key in "ab"] == [None, None]
