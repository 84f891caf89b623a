"""`prefect.yaml`: which deployments there are to be. Light to import: no Prefect."""

import hashlib
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.printable import PrintableName
from flows.errors import FlowError

BUNDLED = Path(__file__).with_name("prefect.yaml")
DIGEST_CHARACTERS = 12

TAG = "cuzk"
"""What the runs carry that are ours; those of others on the same server may have no heartbeat at all."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScheduleEntry(_Strict):
    """When a deployment runs by itself."""

    cron: str
    timezone: str = "UTC"
    active: bool = True


class ConcurrencyEntry(_Strict):
    """How many runs of a deployment there are at a time, and what becomes of one more."""

    limit: int = Field(ge=1)
    collision_strategy: Literal["ENQUEUE", "CANCEL_NEW"] = "ENQUEUE"


class WorkPoolEntry(_Strict):
    """Which workers run it: those of the pool that look into the queue."""

    name: str
    work_queue_name: str = "default"


class DeploymentEntry(_Strict):
    """One deployment; names are those of Prefect's file."""

    name: PrintableName = Field(min_length=1)
    entrypoint: str = Field(pattern=r"^[A-Za-z_][\w.]*\.[A-Za-z_]\w*$")
    description: str = ""
    tags: list[str] = []
    work_pool: WorkPoolEntry
    schedules: list[ScheduleEntry] = []
    concurrency_limit: ConcurrencyEntry | None = None
    parameters: dict[str, Any] = {}

    @property
    def digest(self) -> str:
        """Tells whether the entry has changed."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:DIGEST_CHARACTERS]


class DeploymentFile(BaseModel):
    """What is read of the file."""

    deployments: list[DeploymentEntry] = Field(min_length=1)


def read_deployments(path: Path) -> list[DeploymentEntry]:
    """The file's deployments. Raises FlowError for a file that cannot be read or holds something else."""
    try:
        found = yaml.safe_load(path.read_text())
        return DeploymentFile.model_validate(found).deployments
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise FlowError(
            f"{path}: {where or 'the whole'}: {first['msg']}; for what else Prefect knows there, use "
            f"`prefect deploy --prefect-file {path}`"
        ) from error
    except yaml.YAMLError as error:
        raise FlowError(f"{path}: is no YAML ({error}); correct it") from error
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise FlowError(f"{path}: cannot be read ({why}): check the path and permissions") from error
