"""Paths of the project, and of the program under test, which the environment's WAYBRIDGE names."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "Sources/WaybridgeCommand/Packaging"
sys.path.insert(0, str(ROOT / "Tests/Command"))
