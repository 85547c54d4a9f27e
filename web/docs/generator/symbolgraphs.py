"""The public symbols of the products, as the compiler knows them."""

import functools
import json
import os
import pathlib
import subprocess

from .site import SiteError

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The options of debug builds: with those of the last build, only what has changed is compiled.
BUILD_OPTIONS = os.environ.get("DEBUG_BUILD_OPTIONS", "").split()

# What each product re-exports.
PRODUCTS = {
    "Waybridge": ["WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WaySession", "WaySockets", "WayStore", "WayTable", "WayTransport"],
    "WaybridgeClient": ["WayValues", "WayNavigation"],
    "WaybridgeTesting": [],
    "WaybridgeTables": [],
    "WaybridgeTokens": [],
    "WaybridgeCluster": [],
}


def output(*command):
    """What a command prints; what it warns of is told where it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SiteError(f"{' '.join(command[:2])} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


@functools.cache
def built():
    """Builds the package; gives the folder of its modules, and the triple that they are built for."""
    output("swift", "build", *BUILD_OPTIONS)
    binaries = pathlib.Path(output("swift", "build", "--show-bin-path").strip())
    return binaries, json.loads(output("swift", "-print-target-info"))["target"]["triple"]


def write_graph(product, folder):
    """Writes the symbol graph of a product, with what it re-exports, into a folder, and reads it."""
    binaries, triple = built()
    output(
        "swift", "symbolgraph-extract", "-module-name", product, "-target", triple,
        "-I", str(binaries / "Modules"), "-I", "Sources/CLibwebsockets", "-I", "Sources/CLibuv",
        "-I", "Sources/CWayMalloc", "-I", "Sources/CWaySQLite", "-I", "Sources/CWayCurl",
        "-I", "Sources/CWayCrypto", "-I", "Sources/CWayNATS",
        "-Xcc", f"-fmodule-map-file={binaries}/CWayBuild.build/module.modulemap",
        "-Xcc", f"-fmodule-map-file={binaries}/CSimdjson.build/module.modulemap",
        "-Xcc", f"-fmodule-map-file={binaries}/CWebClient.build/module.modulemap",
        "-minimum-access-level", "public", "-skip-inherited-docs", "-output-dir", str(folder),
        *[f"-experimental-allowed-reexported-modules={','.join(PRODUCTS[product])}" for _ in PRODUCTS[product][:1]],
    )  # fmt: skip
    return json.loads((pathlib.Path(folder) / f"{product}.symbols.json").read_text())
