"""The benchmarks are scripts: their folder is put on the path, as Python does for a script."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
