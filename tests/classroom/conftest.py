"""A Dask cluster of processes on loopback, as its commands start them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest


class Dask:
    """A scheduler at `address`, and workers that come when they are asked for."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        file = folder / "scheduler.json"
        self.scheduler = self._start(
            "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(file)
        )
        end = time.monotonic() + 60
        while not (file.exists() and file.read_text().strip().endswith("}")):
            assert time.monotonic() < end, "no scheduler"
            time.sleep(0.02)
        self.address = json.loads(file.read_text())["address"]

    def worker(self, *options: str) -> subprocess.Popen:
        """Start a worker without a nanny, which would start another when it dies."""
        return self._start(
            "distributed.cli.dask_worker",
            self.address,
            *(options or ("--nthreads", "1", "--no-nanny")),
            "--local-directory",
            str(self.folder / "dask"),
        )

    def _start(self, module: str, *options: str) -> subprocess.Popen:
        self.processes.append(
            subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", module, *options),
                    *("--host", "127.0.0.1", "--no-dashboard"),
                ],
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s",
                    # After so long the scheduler notices that a worker stands still.
                    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s",
                },
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
            )
        )
        return self.processes[-1]

    def close(self) -> None:
        for process in self.processes[::-1]:
            process.send_signal(signal.SIGCONT)
            process.terminate()  # a nanny ends its worker
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def dask(tmp_path):
    pytest.importorskip("distributed")
    made = Dask(tmp_path)
    yield made
    made.close()
