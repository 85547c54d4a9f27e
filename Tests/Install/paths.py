"""Where things are, and the program under test, whose path is in the environment as WAYBRIDGE."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "Sources/WaybridgeCommand/Packaging"
sys.path.insert(0, str(ROOT / "Tests/Command"))
