"""What an engine tells of itself: limits, entries, bytes, and all of it for Prometheus."""

from engine.executor import Executor
from engine.metrics import Gauge, prometheus_text
from engine.monitor import DeviceUse, MemoryMonitor
from policy import EntryUse, Limits, Policy


class Figures:
    """Of an engine that has started. Asked on its event loop's thread."""

    _policy: Policy
    _executor: Executor
    _monitor: MemoryMonitor

    def entries(self) -> list[EntryUse]:
        """The keys, matrices and calculators in memory or being loaded."""
        return self._policy.entries()

    @property
    def limits(self) -> Limits:
        """Of now: the budget may have changed."""
        return self._policy.limits

    @property
    def share_bytes(self) -> int:
        """What this process may use of the budget now."""
        return self._executor.share_bytes

    @property
    def rss_bytes(self) -> int:
        """Resident memory, as last sampled."""
        return self._monitor.last.rss_bytes

    def devices_use(self) -> tuple[DeviceUse, ...]:
        """What each GPU in use holds, and what is reserved there."""
        return self._executor.devices_use()

    @property
    def reserved_bytes(self) -> int:
        """Host memory reserved now."""
        return self._policy.reserved_bytes

    @property
    def peak_reserved_bytes(self) -> int:
        """The most ever reserved in this run."""
        return self._policy.peak_reserved_bytes

    @property
    def peak_rss_bytes(self) -> int:
        """The greatest RSS of the process in this run."""
        return self._monitor.peak_rss_bytes

    def metrics_text(self) -> str:
        """The run's numbers in Prometheus's text format."""
        sample = self._monitor.last
        return prometheus_text(
            self._executor.metrics,
            [
                Gauge("budget_bytes", "The memory budget.", lambda: self._policy.limits.budget_bytes),
                Gauge("share_bytes", "What this process may use of it.", lambda: self._executor.share_bytes),
                Gauge("reserved_bytes", "What is reserved of it.", lambda: self._policy.reserved_bytes),
                Gauge("reserved_peak_bytes", "The most so far.", lambda: self._policy.peak_reserved_bytes),
                Gauge("rss_bytes", "Resident memory, as last sampled.", lambda: sample.rss_bytes),
                Gauge("rss_file_bytes", "Of it, pages of mapped files.", lambda: sample.file_bytes),
                Gauge(
                    "gpu_held_bytes", "Keys and arrays in GPUs' memory.", self._executor.gpu_held_bytes, "gpu"
                ),
                Gauge(
                    "gpu_reserved_bytes",
                    "What is reserved of GPUs' memory.",
                    lambda: {use.device: use.reserved_bytes for use in self._executor.devices_use()},
                    "gpu",
                ),
            ],
        )
