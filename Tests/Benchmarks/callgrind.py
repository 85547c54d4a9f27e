"""The server under callgrind, which counts the instructions that it carries out in user space."""

import os
import pathlib
import shutil
import subprocess
import time

import servers

# Swift's hashes begin with a random number in each process otherwise.
ENVIRONMENT = {"SWIFT_DETERMINISTIC_HASHING": "1"}
# A server that has used no processor time for so many seconds has done what it does aside after its start.
QUIET = 1


class CountedServer:
    """`serve --conformance` of a command, in a `with` block. `folder` takes what it needs, and callgrind's files."""

    def __init__(self, command, folder, *options):
        self._dumps = 0
        self._out = folder / "callgrind.out"
        self._log = folder / "log"
        self._preload = servers.compiled("under_valgrind.c", folder / "under_valgrind.so", "-shared", "-fPIC", "-ldl")
        # Without the debug information, which callgrind 3.19 cannot read.
        stripped = folder / "waybridge"
        shutil.copy(command, stripped)
        subprocess.run(["strip", "-g", stripped], check=True)
        self._command = [
            # Threads take their turns in an order that is less by chance: --fair-sched.
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=try", f"--callgrind-out-file={self._out}",
            f"--log-file={self._log}", str(stripped), "serve", "--conformance", "--port", "0", *options,
        ]

    def __enter__(self):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("WAYBRIDGE_")}
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, text=True,
            env={**inherited, **ENVIRONMENT, "LD_PRELOAD": self._preload},
        )
        line = self.process.stdout.readline()
        if ":" not in line:
            self.__exit__()
            raise SystemExit(f"the server did not start under valgrind: {self._log.read_text()}")
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def settle(self):
        """Waits until the server does nothing: what it reads and makes aside is no call's."""
        before = None
        while (used := self._used()) != before:
            before = used
            time.sleep(QUIET)

    def _used(self):
        """Processor time, in ticks."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def count(self, on):
        """Begins to count, or ends."""
        self._control("-i", "on" if on else "off")

    def counted(self):
        """The instructions since the last time that this was asked."""
        self._control("--dump")
        self._dumps += 1
        return total(pathlib.Path(f"{self._out}.{self._dumps}").read_text(errors="replace"))

    def _control(self, *what):
        done = subprocess.run(["callgrind_control", *what, str(self.process.pid)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"callgrind_control failed:\n{done.stdout}{done.stderr}")


def total(dump):
    """The instructions in a file of callgrind's."""
    (line,) = [line for line in dump.splitlines() if line.startswith("totals:")]
    return int(line.split()[1])
