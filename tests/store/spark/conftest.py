"""A real standalone cluster on the loopback interface: a master and two workers, each a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from flake_report import demo, flow
from flake_report.store import Store

SETTINGS = """
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.executor.memory 512m
spark.default.parallelism 1
spark.locality.wait 0
spark.ui.enabled false
spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""
"""Nothing leaves this machine. The data are small: what makes Spark fast on large ones costs more than it brings."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """`engine` names the cluster for `--engine`; `kill_a_worker` ends one, with its executors, at once."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is absent")
    if shutil.which("java") is None:
        pytest.skip("java is absent: apt install openjdk-17-jre-headless")
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text(SETTINGS)
    environment = {
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYSPARK_PYTHON": sys.executable,
    }
    master = f"spark://127.0.0.1:{free_port()}"

    def started(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [f"{environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{name}", *arguments]
        with (folder / f"{name}-{len(running)}.log").open("wb") as log:
            return subprocess.Popen(
                command, env={**os.environ, **environment}, stdout=log, stderr=log, start_new_session=True
            )

    running: list[subprocess.Popen[bytes]] = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            port = master.rpartition(":")[2]
            running.append(started("master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0"))
            for number in (1, 2):
                about = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0")
                running.append(started("worker.Worker", *about, "--work-dir", str(folder / f"{number}"), master))
            logs = [folder / f"worker.Worker-{number}.log" for number in (1, 2)]
            until = time.monotonic() + 90
            while not all("Successfully registered" in log.read_text() for log in logs):
                assert time.monotonic() < until, "\n".join(log.read_text() for log in folder.glob("*.log"))
                time.sleep(0.2)
            yield SimpleNamespace(
                engine=f"spark={master}", kill_a_worker=lambda: os.killpg(running[-1].pid, signal.SIGKILL)
            )
        finally:
            stop_session()
            for process in running:
                with_children(process)


def stop_session() -> None:
    from pyspark.sql import SparkSession

    if active := SparkSession.getActiveSession():
        active.stop()


def with_children(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started, of which it may be that nothing is left."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait(10)


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds with retries, lost jobs, GPU-memory failures and recorded memory."""
    root = tmp_path_factory.mktemp("archive")
    demo.write_history(root)
    return root


@pytest.fixture(scope="session")
def warned() -> list[str]:
    """What was said while `by_hand` was read."""
    return []


@pytest.fixture(scope="session")
def by_hand(archive: Path, warned: list[str], tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The archive as this process alone reads it."""
    path = str(tmp_path_factory.mktemp("store") / "store")
    flow.ingest(str(archive), path, flow.signature_table(), warned.append, lambda: None)
    return Store.open(path)
