"""Qdrant servers of our own: one node, or the peers of a cluster, each in a folder and on free ports."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

START_SECONDS = 60.0
SMALL = {
    "QDRANT__TELEMETRY_DISABLED": "true",
    "QDRANT__LOG_LEVEL": "WARN",
    "QDRANT__SERVICE__HOST": "127.0.0.1",
    "QDRANT__STORAGE__WAL__WAL_CAPACITY_MB": "1",
    "QDRANT__STORAGE__OPTIMIZERS__DEFAULT_SEGMENT_NUMBER": "1",
    "QDRANT__CLUSTER__CONSENSUS__TICK_PERIOD_MS": "50",
}


@dataclass
class Node:
    """A Qdrant process that can be killed and started again on the same storage."""

    program: Path
    folder: Path
    key: str | None = None
    peers: Node | None = None
    """Another node of the same cluster, itself for the first of one; None for a server by itself."""

    certificate: Path | None = None
    """A file with a certificate and its key, to be reached by TLS alone."""

    port: int = field(default_factory=lambda: free_ports(3))
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}"

    @property
    def uri(self) -> str:
        """Where other peers reach it."""
        return f"http://127.0.0.1:{self.port + 2}"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, *self._arguments()],
                cwd=self.folder,
                env=self._environment(),
                stdout=log,
                stderr=log,
            )

    def _arguments(self) -> list[str]:
        if self.peers is None:
            return []
        return ["--uri", self.uri, *([] if self.peers is self else ["--bootstrap", self.peers.uri])]

    def _environment(self) -> dict[str, str]:
        return {
            **SMALL,
            "PATH": os.environ["PATH"],
            "QDRANT__SERVICE__HTTP_PORT": f"{self.port}",
            "QDRANT__SERVICE__GRPC_PORT": f"{self.port + 1}",
            "QDRANT__STORAGE__STORAGE_PATH": f"{self.folder / 'storage'}",
            "QDRANT__STORAGE__SNAPSHOTS_PATH": f"{self.folder / 'snapshots'}",
            "QDRANT__CLUSTER__ENABLED": "true" if self.peers else "false",
            "QDRANT__CLUSTER__P2P__PORT": f"{self.port + 2}",
            **({"QDRANT__SERVICE__API_KEY": self.key} if self.key else {}),
            **(self._tls(self.certificate) if self.certificate else {}),
        }

    def _tls(self, certificate: Path) -> dict[str, str]:
        # Qdrant takes the first thing in the file for the key.
        mark = "-----BEGIN PRIVATE KEY"
        key = self.folder / "key.pem"
        key.write_text(mark + certificate.read_text().partition(mark)[2])
        return {
            "QDRANT__SERVICE__ENABLE_TLS": "true",
            "QDRANT__TLS__CERT": f"{certificate}",
            "QDRANT__TLS__KEY": f"{key}",
        }

    def wait(self) -> None:
        """Return when it answers and knows what its cluster knows."""
        assert self.process is not None
        until = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < until:
            try:
                # It is on this machine, and whether it is trusted is the tests' own question.
                if httpx.get(f"{self.url}/readyz", timeout=1, trust_env=False, verify=False).is_success:  # noqa: S501
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"Qdrant did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def get(self, path: str) -> Any:
        """What it answers to a question that the adapter never asks."""
        return httpx.get(f"{self.url}{path}", timeout=10, trust_env=False).raise_for_status().json()["result"]

    def kill(self) -> None:
        """End it as a failure of the power would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It holds its connections and answers nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        # A thread of it may answer one more question until the signal has reached them all.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def running(
    program: Path, folder: Path, key: str | None = None, certificate: Path | None = None
) -> Iterator[Node]:
    """A server by itself."""
    node = Node(program, folder, key, certificate=certificate)
    try:
        node.start()
        node.wait()
        yield node
    finally:
        node.stop()


@dataclass
class Cluster:
    """Peers that know each other."""

    nodes: list[Node]

    @property
    def urls(self) -> str:
        return ",".join(node.url for node in self.nodes)

    def holders(self, collection: str) -> list[Node]:
        """The nodes that have a replica of the collection's first shard."""
        peers = {node.get("/cluster")["peer_id"]: node for node in self.nodes}
        return [peers[peer] for peer, shard, _ in self._replicas(self.nodes[0], collection) if shard == 0]

    def wait_until_whole(self, collection: str, seconds: float = 60.0) -> None:
        """Return when every node says that every replica is active, and none is on its way."""
        until = time.monotonic() + seconds
        states: set[str] = set()
        while time.monotonic() < until:
            try:
                replicas = [replica for node in self.nodes for replica in self._replicas(node, collection)]
                states = {state for _, _, state in replicas}
                moving = [
                    node.get(f"/collections/{collection}/cluster")["shard_transfers"] for node in self.nodes
                ]
                if states == {"Active"} and not any(moving):
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"the cluster did not mend: {states}")

    @staticmethod
    def _replicas(node: Node, collection: str) -> list[tuple[int, int, str]]:
        shards = node.get(f"/collections/{collection}/cluster")
        local = [
            (shards["peer_id"], local_shard["shard_id"], local_shard["state"])
            for local_shard in shards["local_shards"]
        ]
        return local + [
            (remote_shard["peer_id"], remote_shard["shard_id"], remote_shard["state"])
            for remote_shard in shards["remote_shards"]
        ]


@contextmanager
def running_cluster(program: Path, folder: Path, size: int = 3) -> Iterator[Cluster]:
    """A cluster; the peers join one after the other, as consensus likes it."""
    first = Node(program, folder / "0")
    first.peers = first
    nodes = [first, *(Node(program, folder / f"{number}", peers=first) for number in range(1, size))]
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(node.stop)
            node.start()
            node.wait()
        until = time.monotonic() + START_SECONDS
        while any(len(node.get("/cluster")["peers"]) < size for node in nodes) and time.monotonic() < until:
            time.sleep(0.05)
        yield Cluster(nodes)


def free_ports(count: int) -> int:
    """The first of several free ports in a row: for HTTP, gRPC and peers."""
    for _ in range(100):
        with ExitStack() as stack:
            try:
                first = _bound(stack, 0)
                for number in range(1, count):
                    _bound(stack, first + number)
            except (OSError, OverflowError):
                continue
            return first
    raise RuntimeError("no free ports")


def _bound(stack: ExitStack, port: int) -> int:
    listener = stack.enter_context(socket.socket())
    listener.bind(("127.0.0.1", port))
    return int(listener.getsockname()[1])
