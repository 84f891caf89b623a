"""Whether batches as Prefect flows keep their promises: what they cost, record, hold and leave."""
