"""What one of several hosts is to prove of a batch. Light to import: no Prefect, no kernels."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from flows.parameters.batch import BatchParameters
from flows.spread.numbers import from_text


class ShareParameters(BaseModel):
    """Some partitions of a batch, as the batch's own run asks a host for them."""

    model_config = ConfigDict(extra="forbid")

    batch: BatchParameters = Field(title="Batch", description="The whole of it.")
    host: str = Field(title="Host", description="The queue of the host that proves.")
    partitions: str = Field(
        title="Partitions",
        description='Which of the batch\'s partitions: "0-9:2" is every other one of the first ten.',
    )
    key: str = Field(title="Key", description="Digest of the verification key that checks proofs.")
    batch_run: str = Field(title="Batch's run", description="The flow run that the proofs are sent to.")

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        from_text(self.partitions)
        return self

    @property
    def title(self) -> str:
        """What the share is called: "merkle ×12 · nightly · host-2"."""
        return f"{self.batch.title} · {self.host}"
