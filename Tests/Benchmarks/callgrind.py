"""The server under callgrind, which counts its instructions in user space."""

import os
import pathlib
import shutil
import subprocess
import time

import servers

# Without this, Swift's hashes have a random seed in each process.
ENVIRONMENT = {"SWIFT_DETERMINISTIC_HASHING": "1"}
# A server that has used no processor time for this number of seconds has finished its background work after the start.
QUIET = 1


class CountedServer:
    """`serve --conformance` of a command, in a `with` block. `folder` is for its files and callgrind's."""

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
            # --fair-sched makes the order of threads less random.
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
        """Waits until the server is idle: its background work does not belong to a call."""
        before = None
        while (used := self._used()) != before:
            before = used
            time.sleep(QUIET)

    def _used(self):
        """Processor time, in ticks."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def count(self, on):
        """Starts or stops counting."""
        self._control("-i", "on" if on else "off")

    def counted(self):
        """The instructions since the last call."""
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
