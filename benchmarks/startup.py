"""The command line: how long `--help` and a cold search take, and how much memory a search needs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MEMORY = """
import re, sys
from pathlib import Path
from pertinent import Pertinent
with Pertinent.open(sys.argv[1]) as opened:
    for _ in range(20):
        opened.search("How do ROS 2 nodes communicate?")
# Not ru_maxrss, which a process inherits from the one that started it.
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def measure(book: Path, rounds: int = 9) -> dict[str, Any]:
    command = str(Path(sys.executable).with_name("pertinent"))
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PERTINENT_FOLDER": folder}
        subprocess.run([command, "index", str(book)], env=environment, capture_output=True, check=True)
        helps, searches = [], []
        for _ in range(rounds):
            helps.append(_timed([command, "--help"], environment))
            searches.append(_timed([command, "search", "How do ROS 2 nodes communicate?"], environment))
        memory = subprocess.run(
            [sys.executable, "-c", MEMORY, folder], capture_output=True, check=True, text=True
        )
    return {
        "help_s": helps,
        "cold_search_s": searches,
        "median_help_s": statistics.median(helps),
        "median_cold_search_s": statistics.median(searches),
        "memory_after_searching_mb": int(memory.stdout),
    }


def _timed(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return round(time.perf_counter() - start, 3)
