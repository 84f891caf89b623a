"""How much memory this process's control group leaves it, for cgroup version 2 and version 1.

Read as in the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst. A limit binds every
group below the one it is set on, so the path from the process's group up to the mount is looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
# Version 1 has no word for "no limit": it shows the greatest multiple of the page size in 63 bits.
UNLIMITED_BYTES = 1 << 62


@dataclass(frozen=True)
class Files:
    """The names that one cgroup version gives to the same three things."""

    limit: str
    usage: str
    reclaimable: tuple[str, str]  # keys of memory.stat: pages of files, dropped before memory is refused


VERSION_2 = Files("memory.max", "memory.current", ("inactive_file", "active_file"))
VERSION_1 = Files(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
)


@dataclass(frozen=True)
class Limit:
    """The limit of one group and what it leaves at the moment, in bytes."""

    path: Path
    limit_bytes: int
    available_bytes: int


def limits(proc: Path = PROC) -> list[Limit]:
    """All memory limits on this process, innermost first; empty without cgroups or without a limit."""
    found = []
    for directory, files in _directories(proc):
        limit_bytes = _read_bytes(directory / files.limit)
        if limit_bytes is None or limit_bytes >= UNLIMITED_BYTES:
            continue
        used_bytes = (_read_bytes(directory / files.usage) or 0) - _reclaimable_bytes(directory, files)
        found.append(Limit(directory, limit_bytes, max(0, limit_bytes - max(0, used_bytes))))
    return found


def _directories(proc: Path) -> Iterator[tuple[Path, Files]]:
    try:
        groups = (proc / "self/cgroup").read_text().splitlines()
        mounts = (proc / "self/mountinfo").read_text().splitlines()
    except OSError:  # another system than Linux
        return
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            files, kind = VERSION_2, "cgroup2"
        elif "memory" in controllers.split(","):
            files, kind = VERSION_1, "cgroup"
        else:
            continue
        for root, mount_point in _mounts(mounts, kind):
            for directory in _upwards(mount_point, root, path):
                yield directory, files


def _mounts(mountinfo: list[str], kind: str) -> Iterator[tuple[str, Path]]:
    """(root of the mount within the hierarchy, mount point) of the mounts of a kind; see proc(5)."""
    for line in mountinfo:
        before, _, after = line.partition(" - ")
        fields, filesystem = before.split(), after.split()
        if filesystem[0] == kind and (kind == "cgroup2" or "memory" in filesystem[2].split(",")):
            yield fields[3], Path(fields[4].replace("\\040", " "))


def _upwards(mount_point: Path, root: str, path: str) -> Iterator[Path]:
    """The process's group and its ancestors, as directories below the mount point."""
    # In a container the mount shows only a part of the hierarchy, whose root is `root`.
    relative = path.removeprefix(root.rstrip("/")) if path.startswith(root.rstrip("/")) else ""
    directory = mount_point / relative.strip("/")
    while directory != mount_point:
        yield directory
        directory = directory.parent
    yield mount_point


def _read_bytes(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:  # the root group has no such files, and a container may not see its own group
        return None
    return int(text) if text.isdigit() else None  # "max" is no limit


def _reclaimable_bytes(directory: Path, files: Files) -> int:
    try:
        lines = (directory / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.split()[0] in files.reclaimable)
