"""Runs a guide of web/docs as a reader would: writes its files and types its commands, in their order.

A block behind a line that ends with "`NAME`:" is the file NAME. A block `sh` is typed into one shell, in a folder beside a clone
that is called waybridge. A block `text` behind it shows what is printed, sooner or later: its lines in their order, in which
`…` stands for anything, and it does not matter how wide a space is.
"""

import os
import queue
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

from readme import ROOT, fenced

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

DOCS = ROOT / "web/docs"
# What the guides call the ports that they take.
PORTS = ["8080", "8090", "8443", "4222"]
FILE = re.compile(r"`([\w./-]+)`:\n\n```")
# Seconds without a further line.
TIMEOUT = 60


def steps(name):
    """What a guide has its reader do: (kind, name of a file or None, block), kinds being `file`, `sh` and `text`."""
    path = DOCS / name
    text = path.read_text()
    files = {text[: match.end()].count("\n") + 1: match[1] for match in FILE.finditer(text)}
    found = []
    for block in fenced(path):
        file = files.get(int(block.place.rpartition(":")[2]))
        kind = "file" if file else block.language
        if kind not in ("file", "sh", "text"):
            raise AssertionError(f"{block.place}: unknown kind of block: name its file in the line before, as `NAME`:")
        found.append((kind, file, block))
    return found


def files(name):
    """The files that a guide has its reader write, by their names."""
    return {file: block.text for kind, file, block in steps(name) if kind == "file"}


def free_port(used):
    """A port that is free, beneath those that systems give away by themselves."""
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                if port not in used:
                    return port
        except OSError:
            continue


class GuideRunner:
    """A folder, and a shell in it, until the end of the `with` block."""

    def __init__(self, commands=()):
        """`commands` are further programs that the shell finds: (name, text of a script)."""
        self._commands = commands
        used = []
        for _ in PORTS:
            used.append(free_port(used))
        self.ports = dict(zip(PORTS, map(str, used)))

    def __enter__(self):
        self._temporary = tempfile.TemporaryDirectory()
        root = Path(self._temporary.name)
        # Workers of proxies are of another user.
        root.chmod(0o755)
        (root / "waybridge").symlink_to(ROOT)
        programs, self.folder = root / "bin", root / "shop"
        programs.mkdir()
        self.folder.mkdir()
        (programs / "waybridge").symlink_to(Path(WAYBRIDGE).resolve())
        for name, text in self._commands:
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        path = f"{programs}:/usr/bin:{os.environ['PATH']}:/usr/sbin"
        environment = {**os.environ, "PATH": path, "NODE_PATH": "/usr/share/nodejs", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        for name in [name for name in environment if name.startswith("WAYBRIDGE")]:
            del environment[name]
        self._shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=self.folder, env=environment, start_new_session=True,
        )  # fmt: skip
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def _read(self):
        for line in self._shell.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def __exit__(self, *_):
        # All that was begun in the background is of the shell's group.
        for end in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._shell.pid, end)
            except ProcessLookupError:
                break
            self._reader.join(timeout=20 if end == signal.SIGTERM else None)
            if not self._reader.is_alive():
                break
        self._shell.stdin.close()
        self._shell.wait()
        self._reader.join()
        self._shell.stdout.close()
        self._temporary.cleanup()

    def with_ports(self, text):
        """The text with the ports that are free here."""
        return re.sub("|".join(PORTS), lambda match: self.ports[match[0]], text)

    def run(self, name, but=()):
        """Runs a guide from its beginning to its end; blocks that hold one of the texts `but` are left to the caller."""
        parts = steps(name)
        for (kind, file, block), after in zip(parts, [*parts[1:], (None, None, None)]):
            if any(text in block.text for text in but):
                continue
            if kind == "file":
                self.write(file, block.text)
            if kind == "sh":
                self.type(block, after[2].text if after[0] == "text" else None)

    def write(self, file, text):
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.with_ports(text))

    def type(self, block, shown=None):
        """Types a block; waits until it is done, and has printed what is shown. Without that, it has to succeed."""
        mark = f"done-{random.random()}"
        self._shell.stdin.write(f"{self.with_ports(block.text)}\nprintf '\\n{mark} %s\\n' $?\n")
        self._shell.stdin.flush()
        wanted = [pattern(line) for line in self.with_ports(shown or "").splitlines() if line.strip()]
        printed, status = [], None
        while status is None or wanted:
            try:
                line = self._lines.get(timeout=TIMEOUT)
            except queue.Empty:
                line = None
            if line is None:
                missing = wanted[0].pattern if wanted else "its end"
                raise AssertionError(f"{block.place}: waited for {missing}; printed was\n" + "\n".join(printed))
            if line.startswith(mark):
                status = line.removeprefix(mark).strip()
                continue
            printed.append(line)
            if wanted and wanted[0].fullmatch(spaced(line)):
                wanted.pop(0)
        if shown is None and status != "0":
            raise AssertionError(f"{block.place}: ended with {status}; printed was\n" + "\n".join(printed))


def pattern(line):
    """A line as a document shows it; … stands for anything."""
    return re.compile(".*".join(map(re.escape, spaced(line).split("…"))))


def spaced(line):
    return " ".join(line.split())
