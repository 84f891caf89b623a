"""The flow `prove_partitions`: what one of several hosts proves of a batch, and sends to the batch's run."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from prefect import State, flow
from prefect.runtime import flow_run

from config import ConfigError
from db import new_id
from engine.outputs import Outputs, usual_folder
from flows.display.shape import Shown
from flows.ends.closing import close_run
from flows.ends.ending import in_good_order
from flows.parameters.requests import PartitionRequests
from flows.proving.real_batch import open_batch, prove_opened
from flows.spread.courier import Courier
from flows.spread.numbers import from_text
from flows.spread.share import ShareParameters
from flows.summary import BatchSummary


@flow(
    name="prove_partitions",
    flow_run_name="{parameters.title}",
    persist_result=False,
    on_cancellation=[close_run],
    on_crashed=[close_run],
)
async def prove_partitions(parameters: ShareParameters) -> State[BatchSummary]:
    """Prove a batch's partitions on this host. It is cancelled when the batch's run has ended."""
    return await in_good_order(_prove(parameters), UUID(parameters.batch_run))


async def _prove(share: ShareParameters) -> BatchSummary:
    opened = await open_batch(share.batch)
    await asyncio.to_thread(check_key, opened.circuit.zkey, share)
    numbers, run_id = from_text(share.partitions), new_id()
    output = usual_folder(run_id).absolute()
    requests = PartitionRequests(share.batch, opened.circuit, output, numbers)
    as_proofs = share.batch.model_copy(update={"count": len(numbers), "partitions": 1})
    opened = replace(opened, parameters=as_proofs, host=share.host)
    courier = Courier(UUID(share.batch_run), UUID(flow_run.id))

    def also_told(display: Shown) -> Shown:
        return SentToo(display, courier, requests, numbers)

    async with courier.sending():
        return await prove_opened(opened, run_id, output, requests, set(), also_told)


def check_key(zkey: Path, share: ShareParameters) -> None:
    """Raise ConfigError where the batch's run would refuse every proof."""
    from engine.assembly import key_digest

    if (found := key_digest(zkey)) != share.key:
        raise ConfigError(
            f"{zkey}: found the verification key {found}, expected {share.key} as where the batch runs; "
            "copy the .zkey from there, so that all hosts have the same"
        )


class SentToo(Shown):
    """Sends what is made, besides showing it."""

    def __init__(
        self, display: Shown, courier: Courier, requests: PartitionRequests, numbers: list[int]
    ) -> None:
        self._display, self._courier = display, courier
        self._requests, self._numbers = requests, numbers

    def found(self, index: int) -> None:
        self._display.found(index)

    async def submitted(self, index: int, proof_id: str, name: str) -> None:
        await self._display.submitted(index, proof_id, name)

    def ended(self, index: int, proof_id: str, error: Exception | None) -> None:
        folder = self._requests[index].output_dir
        assert folder is not None, "a batch has a folder"
        files = Outputs(folder, 1, proof_id).paths(0)
        self._courier.ended(self._numbers[index], files, error)
        self._display.ended(index, proof_id, error)

    def give_up(self) -> None:
        self._display.give_up()
