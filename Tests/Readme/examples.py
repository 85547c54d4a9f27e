"""The package of Tests/Examples, built once with every Swift block of the documents beside its own programs."""

import functools
import json
import re
import shutil
import subprocess

import guide_runner
from readme import ROOT, all_blocks, comment_blocks, replaced
from symbols import BUILD_OPTIONS

FOLDER = ROOT / ".build/examples"
# The guide whose files are a package of its own, which is built here beside the others.
TUTORIAL = "tutorial.md"
METRICS = (
    'path: "../.."), .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"), '
    '.package(url: "https://github.com/apple/swift-log", from: "1.6.0"), '
    '.package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0")'
)
TARGET = """
    .target(
      name: "Documents",
      dependencies: [
        .product(name: "Waybridge", package: "waybridge"),
        .product(name: "WaybridgeClient", package: "waybridge"),
        .product(name: "WaybridgeTesting", package: "waybridge"),
        .product(name: "WaybridgeTables", package: "waybridge"),
        .product(name: "WaybridgeTokens", package: "waybridge"),
        .product(name: "WaybridgeCluster", package: "waybridge"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Documents"),
    .testTarget(
      name: "DocumentTests",
      dependencies: [
        .product(name: "Waybridge", package: "waybridge"),
        .product(name: "WaybridgeClient", package: "waybridge"),
        .product(name: "WaybridgeTesting", package: "waybridge"),
      ],
      path: "DocumentTests"),
    .target(
      name: "Shop", dependencies: [.product(name: "Waybridge", package: "waybridge")], path: "Tutorial/Sources/Shop",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "ShopApp", dependencies: ["Shop"], path: "Tutorial/Sources/ShopApp", swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ShopTests",
      dependencies: ["Shop", .product(name: "WaybridgeTesting", package: "waybridge")],
      path: "Tutorial/Tests/ShopTests"),
  ]
)
"""


@functools.cache
def build():
    """Builds the package; gives the folder of its programs, and what the compiler said of the snippets."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    manifest = (ROOT / "Tests/Examples/Package.swift").read_text()
    write(FOLDER / "Package.swift", replaced(manifest, [('path: "../..")', METRICS), ("\n  ]\n)\n", TARGET)]))
    sources = sorted((ROOT / "Tests/Examples").glob("*/*.swift"))
    copies = [FOLDER / path.relative_to(ROOT / "Tests/Examples") for path in sources]
    for stale in set(FOLDER.glob("*/*.swift")) - set(copies):
        stale.unlink()
    for path, copy in zip(sources, copies):
        write(copy, path.read_text())
    for name, text in snippets():
        write(FOLDER / name, text)
    write_tutorial()
    if (ROOT / "Package.resolved").exists():
        shutil.copy(ROOT / "Package.resolved", FOLDER)
    done = swift("build", "--build-tests")
    return swift("build", "--show-bin-path").stdout.strip(), done.returncode, done.stdout


def write_tutorial():
    """Writes the Swift of the tutorial, what is generated from its table too; its tests find the table in the package's folder."""
    found = guide_runner.files(TUTORIAL)
    for name, text in found.items():
        if name.endswith(".swift") and name != "Package.swift":
            write(FOLDER / "Tutorial" / name, text)
    write(FOLDER / "routes.json", found["routes.json"])
    command = [guide_runner.WAYBRIDGE, "routes", "generate", FOLDER / "routes.json", "--language", "swift", "--module", "Waybridge"]
    subprocess.run([*command, "--output", FOLDER / "Tutorial/Sources/Shop"], check=True, stdout=subprocess.DEVNULL)


def declared(folder):
    """The targets of a package and what each depends on, as its manifest says."""
    done = subprocess.run(["swift", "package", "dump-package", "--package-path", str(folder)], check=True, stdout=subprocess.PIPE)
    return {
        target["name"]: sorted(each.get("byName", each.get("product"))[0] for each in target["dependencies"])
        for target in json.loads(done.stdout)["targets"]
    }


def swift(command, *arguments):
    """Runs a command of the package manager for the package; gives what has become of it, and all its output.

    What is built lies in the folder of the package that it depends on, whose modules are thus compiled once for both.
    The plan that is kept there is of the package that was built last, and would be taken for the other's: so it is
    neither used here nor left.
    """
    places = ["--package-path", str(FOLDER), "--scratch-path", str(ROOT / ".build"), "--disable-build-manifest-caching", *BUILD_OPTIONS]
    try:
        return subprocess.run(
            ["swift", command, *places, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    finally:
        (ROOT / ".build/debug.yaml").unlink(missing_ok=True)


def run_tests(target):
    """Runs the tests of a target of the package; gives how many have passed, 0 where one has not, and what they say."""
    build()
    done = swift("test", "--skip-build", "--filter", target)
    passed = re.search(r"with (\d+) tests? .*passed", done.stdout)
    return int(passed[1]) if passed and done.returncode == 0 else 0, done.stdout


def snippets():
    """Each block as a function of its own, so that none is linked and none sees another; the compiler names the block.

    One that imports Testing is a file of tests as it stands.
    """
    blocks = [block for block in all_blocks("swift") if not block.place.startswith(f"web/docs/{TUTORIAL}:")]
    written = [(block, imports_of(block), "") for block in blocks]
    for block, imports, _ in written:
        if not imports:
            raise AssertionError(f"{block.place}: begin a Swift block with its imports: it has to compile by itself")
    # A comment speaks of what its module has: it imports that, and has a server and a router at hand.
    for block, module in comment_blocks("swift"):
        imports, parameters = ["import Waybridge"], "_ server: BridgeServer, _ router: Router"
        if module == "WaybridgeClient":
            imports, parameters = ["import WaybridgeClient"], ""
        if module == "WaybridgeTesting":
            imports, parameters = ["import Waybridge", "import WaybridgeTesting"], ""
        if module == "WaybridgeTables":
            imports, parameters = ["import Waybridge", "import WaybridgeTables"], ""
        if module == "WaybridgeTokens":
            imports, parameters = ["import Waybridge", "import WaybridgeTokens"], ""
        written.append((block, imports_of(block) + imports, parameters))
    for number, (block, imports, parameters) in enumerate(written):
        body = "\n".join("" if line in imports else line for line in block.text.splitlines())
        path, line = block.place.rsplit(":", 1)
        place = f'#sourceLocation(file: "{path}", line: {int(line) + 1})\n'
        if "import Testing" in imports:
            yield f"DocumentTests/Block{number}.swift", place + block.text
            continue
        yield (
            f"Documents/Block{number}.swift",
            "\n".join(imports) + f"\n\nprivate func block({parameters}) async throws {{\n"
            f"{place}{body}\n#sourceLocation()\n}}\n",
        )


def imports_of(block):
    return [line for line in block.text.splitlines() if re.match(r"import \w+$", line)]


def write(path, text):
    """Leaves a file as it is that has this text already, so that nothing is built in vain."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
