"""All tables, which SQLAlchemy knows once the modules of their models are imported, as they are here."""

from db import job_models, log_models, models  # noqa: F401 — imported for what they register
from db.record import Record

METADATA = Record.metadata
