from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATE_UNSPECIFIED: _ClassVar[JobState]
    ACCEPTED: _ClassVar[JobState]
    RUNNING: _ClassVar[JobState]
    DONE: _ClassVar[JobState]
    FAILED: _ClassVar[JobState]
    CANCELLED: _ClassVar[JobState]

class Stage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STAGE_UNSPECIFIED: _ClassVar[Stage]
    LOAD: _ClassVar[Stage]
    SYNTHESIZE: _ClassVar[Stage]
    PROVE: _ClassVar[Stage]
    VERIFY: _ClassVar[Stage]

class JobPriority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CIRCUITS_OWN: _ClassVar[JobPriority]
    LOW: _ClassVar[JobPriority]
    NORMAL: _ClassVar[JobPriority]
    HIGH: _ClassVar[JobPriority]
    CRITICAL: _ClassVar[JobPriority]
JOB_STATE_UNSPECIFIED: JobState
ACCEPTED: JobState
RUNNING: JobState
DONE: JobState
FAILED: JobState
CANCELLED: JobState
STAGE_UNSPECIFIED: Stage
LOAD: Stage
SYNTHESIZE: Stage
PROVE: Stage
VERIFY: Stage
CIRCUITS_OWN: JobPriority
LOW: JobPriority
NORMAL: JobPriority
HIGH: JobPriority
CRITICAL: JobPriority

class GetVersionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetVersionResponse(_message.Message):
    __slots__ = ("version", "protocol", "run_id", "pid", "process_started_at_s", "host", "log_path", "status_address", "budget_bytes", "queue_limit")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    PROCESS_STARTED_AT_S_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    LOG_PATH_FIELD_NUMBER: _ClassVar[int]
    STATUS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    version: str
    protocol: int
    run_id: str
    pid: int
    process_started_at_s: float
    host: str
    log_path: str
    status_address: str
    budget_bytes: int
    queue_limit: int
    def __init__(self, version: _Optional[str] = ..., protocol: _Optional[int] = ..., run_id: _Optional[str] = ..., pid: _Optional[int] = ..., process_started_at_s: _Optional[float] = ..., host: _Optional[str] = ..., log_path: _Optional[str] = ..., status_address: _Optional[str] = ..., budget_bytes: _Optional[int] = ..., queue_limit: _Optional[int] = ...) -> None: ...

class ListCircuitsRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListCircuitsResponse(_message.Message):
    __slots__ = ("circuits",)
    CIRCUITS_FIELD_NUMBER: _ClassVar[int]
    circuits: _containers.RepeatedCompositeFieldContainer[CircuitInfo]
    def __init__(self, circuits: _Optional[_Iterable[_Union[CircuitInfo, _Mapping]]] = ...) -> None: ...

class CircuitInfo(_message.Message):
    __slots__ = ("name", "usable", "reason", "curve", "variables", "public_signals", "domain_size", "entries_bytes", "working_bytes", "partitions", "takes_inputs", "bundled", "prepared")
    NAME_FIELD_NUMBER: _ClassVar[int]
    USABLE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CURVE_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_SIZE_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_BYTES_FIELD_NUMBER: _ClassVar[int]
    WORKING_BYTES_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    TAKES_INPUTS_FIELD_NUMBER: _ClassVar[int]
    BUNDLED_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    name: str
    usable: bool
    reason: str
    curve: str
    variables: int
    public_signals: int
    domain_size: int
    entries_bytes: int
    working_bytes: int
    partitions: int
    takes_inputs: bool
    bundled: bool
    prepared: bool
    def __init__(self, name: _Optional[str] = ..., usable: _Optional[bool] = ..., reason: _Optional[str] = ..., curve: _Optional[str] = ..., variables: _Optional[int] = ..., public_signals: _Optional[int] = ..., domain_size: _Optional[int] = ..., entries_bytes: _Optional[int] = ..., working_bytes: _Optional[int] = ..., partitions: _Optional[int] = ..., takes_inputs: _Optional[bool] = ..., bundled: _Optional[bool] = ..., prepared: _Optional[bool] = ...) -> None: ...

class SubmitCircuitRequest(_message.Message):
    __slots__ = ("request_id", "circuit", "witness", "inputs_json", "priority", "due_ms", "partitions", "lease_ms", "name")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_FIELD_NUMBER: _ClassVar[int]
    WITNESS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_JSON_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    DUE_MS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    circuit: str
    witness: bytes
    inputs_json: bytes
    priority: JobPriority
    due_ms: int
    partitions: int
    lease_ms: int
    name: str
    def __init__(self, request_id: _Optional[str] = ..., circuit: _Optional[str] = ..., witness: _Optional[bytes] = ..., inputs_json: _Optional[bytes] = ..., priority: _Optional[_Union[JobPriority, str]] = ..., due_ms: _Optional[int] = ..., partitions: _Optional[int] = ..., lease_ms: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class SubmitCircuitResponse(_message.Message):
    __slots__ = ("job_id", "queue_position", "known")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    QUEUE_POSITION_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    queue_position: int
    known: bool
    def __init__(self, job_id: _Optional[str] = ..., queue_position: _Optional[int] = ..., known: _Optional[bool] = ...) -> None: ...

class AwaitJobRequest(_message.Message):
    __slots__ = ("job_id", "timeout_ms")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    timeout_ms: int
    def __init__(self, job_id: _Optional[str] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class PartitionProof(_message.Message):
    __slots__ = ("proof_json", "public_json")
    PROOF_JSON_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_JSON_FIELD_NUMBER: _ClassVar[int]
    proof_json: bytes
    public_json: bytes
    def __init__(self, proof_json: _Optional[bytes] = ..., public_json: _Optional[bytes] = ...) -> None: ...

class Timings(_message.Message):
    __slots__ = ("queue_s", "load_s", "synthesize_s", "prove_s", "verify_s", "total_s")
    QUEUE_S_FIELD_NUMBER: _ClassVar[int]
    LOAD_S_FIELD_NUMBER: _ClassVar[int]
    SYNTHESIZE_S_FIELD_NUMBER: _ClassVar[int]
    PROVE_S_FIELD_NUMBER: _ClassVar[int]
    VERIFY_S_FIELD_NUMBER: _ClassVar[int]
    TOTAL_S_FIELD_NUMBER: _ClassVar[int]
    queue_s: float
    load_s: float
    synthesize_s: float
    prove_s: float
    verify_s: float
    total_s: float
    def __init__(self, queue_s: _Optional[float] = ..., load_s: _Optional[float] = ..., synthesize_s: _Optional[float] = ..., prove_s: _Optional[float] = ..., verify_s: _Optional[float] = ..., total_s: _Optional[float] = ...) -> None: ...

class JobResult(_message.Message):
    __slots__ = ("job_id", "state", "error", "partitions", "timings")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    state: JobState
    error: str
    partitions: _containers.RepeatedCompositeFieldContainer[PartitionProof]
    timings: Timings
    def __init__(self, job_id: _Optional[str] = ..., state: _Optional[_Union[JobState, str]] = ..., error: _Optional[str] = ..., partitions: _Optional[_Iterable[_Union[PartitionProof, _Mapping]]] = ..., timings: _Optional[_Union[Timings, _Mapping]] = ...) -> None: ...

class WatchJobRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class JobEvent(_message.Message):
    __slots__ = ("job_id", "state", "partition", "stage", "finished", "at_s", "detail", "result", "device")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    AT_S_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    state: JobState
    partition: int
    stage: Stage
    finished: bool
    at_s: float
    detail: str
    result: JobResult
    device: str
    def __init__(self, job_id: _Optional[str] = ..., state: _Optional[_Union[JobState, str]] = ..., partition: _Optional[int] = ..., stage: _Optional[_Union[Stage, str]] = ..., finished: _Optional[bool] = ..., at_s: _Optional[float] = ..., detail: _Optional[str] = ..., result: _Optional[_Union[JobResult, _Mapping]] = ..., device: _Optional[str] = ...) -> None: ...

class CancelJobRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class CancelJobResponse(_message.Message):
    __slots__ = ("was_running", "had_ended")
    WAS_RUNNING_FIELD_NUMBER: _ClassVar[int]
    HAD_ENDED_FIELD_NUMBER: _ClassVar[int]
    was_running: bool
    had_ended: bool
    def __init__(self, was_running: _Optional[bool] = ..., had_ended: _Optional[bool] = ...) -> None: ...

class WhyRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class WhyResponse(_message.Message):
    __slots__ = ("lines",)
    LINES_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, lines: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchStatusRequest(_message.Message):
    __slots__ = ("interval_ms", "once")
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    ONCE_FIELD_NUMBER: _ClassVar[int]
    interval_ms: int
    once: bool
    def __init__(self, interval_ms: _Optional[int] = ..., once: _Optional[bool] = ...) -> None: ...

class CachedEntry(_message.Message):
    __slots__ = ("key", "size_bytes", "users", "loading")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    USERS_FIELD_NUMBER: _ClassVar[int]
    LOADING_FIELD_NUMBER: _ClassVar[int]
    key: str
    size_bytes: int
    users: int
    loading: bool
    def __init__(self, key: _Optional[str] = ..., size_bytes: _Optional[int] = ..., users: _Optional[int] = ..., loading: _Optional[bool] = ...) -> None: ...

class RunningJob(_message.Message):
    __slots__ = ("job_id", "circuit", "name", "state", "doing", "age_s")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DOING_FIELD_NUMBER: _ClassVar[int]
    AGE_S_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    circuit: str
    name: str
    state: JobState
    doing: str
    age_s: float
    def __init__(self, job_id: _Optional[str] = ..., circuit: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[_Union[JobState, str]] = ..., doing: _Optional[str] = ..., age_s: _Optional[float] = ...) -> None: ...

class DaemonStatus(_message.Message):
    __slots__ = ("at_s", "uptime_s", "budget_bytes", "share_bytes", "reserved_bytes", "peak_reserved_bytes", "rss_bytes", "peak_rss_bytes", "waiting", "running", "done", "failed", "cancelled", "draining", "entries", "jobs", "threads", "open_files")
    AT_S_FIELD_NUMBER: _ClassVar[int]
    UPTIME_S_FIELD_NUMBER: _ClassVar[int]
    BUDGET_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHARE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESERVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    PEAK_RESERVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    PEAK_RSS_BYTES_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    OPEN_FILES_FIELD_NUMBER: _ClassVar[int]
    at_s: float
    uptime_s: float
    budget_bytes: int
    share_bytes: int
    reserved_bytes: int
    peak_reserved_bytes: int
    rss_bytes: int
    peak_rss_bytes: int
    waiting: int
    running: int
    done: int
    failed: int
    cancelled: int
    draining: bool
    entries: _containers.RepeatedCompositeFieldContainer[CachedEntry]
    jobs: _containers.RepeatedCompositeFieldContainer[RunningJob]
    threads: int
    open_files: int
    def __init__(self, at_s: _Optional[float] = ..., uptime_s: _Optional[float] = ..., budget_bytes: _Optional[int] = ..., share_bytes: _Optional[int] = ..., reserved_bytes: _Optional[int] = ..., peak_reserved_bytes: _Optional[int] = ..., rss_bytes: _Optional[int] = ..., peak_rss_bytes: _Optional[int] = ..., waiting: _Optional[int] = ..., running: _Optional[int] = ..., done: _Optional[int] = ..., failed: _Optional[int] = ..., cancelled: _Optional[int] = ..., draining: _Optional[bool] = ..., entries: _Optional[_Iterable[_Union[CachedEntry, _Mapping]]] = ..., jobs: _Optional[_Iterable[_Union[RunningJob, _Mapping]]] = ..., threads: _Optional[int] = ..., open_files: _Optional[int] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ("running", "waiting")
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    running: int
    waiting: int
    def __init__(self, running: _Optional[int] = ..., waiting: _Optional[int] = ...) -> None: ...
