"""Limits of made-up control group trees, laid out as the kernel's documentation describes them."""

from pathlib import Path

import pytest

from engine import cgroup

GIB = 1 << 30


def write(directory: Path, **files: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text)


def proc(tmp_path: Path, group: str, mount: str) -> Path:
    write(tmp_path / "proc/self", cgroup=group + "\n", mountinfo=mount + "\n")
    return tmp_path / "proc"


def version_2(tmp_path: Path, root: str = "/") -> str:
    return f"30 23 0:26 {root} {tmp_path}/cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"


def test_no_cgroups_means_no_limit(tmp_path: Path) -> None:
    assert cgroup.limits(tmp_path / "nowhere") == []
    assert cgroup.limits(proc(tmp_path, "0::/", "25 1 0:5 / /dev rw - devtmpfs devtmpfs rw")) == []


def test_version_2_reads_the_group_and_its_ancestors(tmp_path: Path) -> None:
    write(tmp_path / "cg/outer/inner", memory__max="max", memory__current=str(GIB))
    write(tmp_path / "cg/outer", memory__max=str(4 * GIB), memory__current=str(3 * GIB))
    (tmp_path / "cg/outer/memory.stat").write_text(
        f"anon 5\ninactive_file {GIB // 2}\nactive_file {GIB // 2}\n"
    )
    (limit,) = cgroup.limits(proc(tmp_path, "0::/outer/inner", version_2(tmp_path)))
    assert limit == cgroup.Limit(tmp_path / "cg/outer", 4 * GIB, 2 * GIB)


def test_inside_a_container_the_mount_shows_the_group_as_its_root(tmp_path: Path) -> None:
    write(tmp_path / "cg", memory__max=str(GIB), memory__current="0")
    (limit,) = cgroup.limits(proc(tmp_path, "0::/docker/ab12", version_2(tmp_path, root="/docker/ab12")))
    assert (limit.limit_bytes, limit.available_bytes) == (GIB, GIB)


def test_a_group_outside_the_mount_falls_back_to_the_mount(tmp_path: Path) -> None:
    write(tmp_path / "cg", memory__max=str(GIB), memory__current=str(2 * GIB))
    (limit,) = cgroup.limits(proc(tmp_path, "0::/../other", version_2(tmp_path, root="/docker/ab12")))
    assert (limit.path, limit.available_bytes) == (tmp_path / "cg", 0)


@pytest.mark.parametrize(("written", "found"), [(str(2 * GIB), [2 * GIB]), ("9223372036854771712", [])])
def test_version_1(tmp_path: Path, written: str, found: list[int]) -> None:
    write(tmp_path / "cg/job", memory__limit_in_bytes=written, memory__usage_in_bytes="0", memory__stat="")
    groups = "5:cpu,cpuacct:/elsewhere\n4:memory:/job\n0::/"
    mount = f"35 31 0:32 / {tmp_path}/cg rw - cgroup cgroup rw,memory"
    assert [limit.limit_bytes for limit in cgroup.limits(proc(tmp_path, groups, mount))] == found
