"""The command under test, as processes of their own; its path is in the environment as WAYBRIDGE."""

import os
import pathlib
import re
import select
import subprocess
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")


def environment(variables):
    """This process's environment, without settings of the command, and with `variables`."""
    return {name: value for name, value in os.environ.items() if not name.startswith("WAYBRIDGE_")} | variables


def run(*arguments, **variables):
    """Runs the command to its end: its exit code, standard output and standard error."""
    done = subprocess.run(
        [WAYBRIDGE, *arguments], capture_output=True, text=True, timeout=30, env=environment(variables)
    )
    return done.returncode, done.stdout, done.stderr


def run_line_by_line(lines, *arguments):
    """Runs the command, writes each line after the output line of the line before, and returns the output lines."""
    command = [WAYBRIDGE, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment({})) as process:
        outputs = []
        for line in lines:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            outputs.append(process.stdout.readline())
        process.stdin.close()
        if process.wait(timeout=30) != 0:
            raise AssertionError(f"the exit code was {process.returncode}")
    return outputs


class Server:
    """`waybridge serve` or `demo`, from its first line to the end of the `with` block."""

    def __init__(self, *arguments, command=WAYBRIDGE, preexec_fn=None, **variables):
        self._command = [command, *arguments]
        self._preexec = preexec_fn
        # Tests for which the end of calls matters set this.
        self._environment = environment({"WAYBRIDGE_DRAIN": "0"} | variables)

    def __enter__(self):
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environment,
            preexec_fn=self._preexec,
        )
        return self.begun()

    def begun(self):
        """Reads the first line of the started process."""
        self.first_line = self.line()
        match = re.fullmatch(r"listening on (http://(\S+):(\d+)|http\+unix://([^/\s]+))", self.first_line)
        if not match:
            self.__exit__()
            raise AssertionError(f"the first line was {self.first_line!r}")
        self.address = match[1]
        if match[4]:
            self.unix = urllib.parse.unquote(match[4])
        else:
            self.port = int(match[3])
            self.url = f"ws://{match[2]}:{match[3]}/bridge"
        return self

    def line(self):
        """The next line on standard output, which must come within 20 s."""
        return self._line(self.process.stdout)

    def error_line(self):
        """The next line on standard error, which must come within 20 s."""
        return self._line(self.process.stderr)

    def _line(self, stream):
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([stream], [], [], 20)
            byte = os.read(stream.fileno(), 1) if ready else b""
            if not byte:
                state = self._end_state() if ready else "it did not come within 20 s"
                raise AssertionError(f"no whole line came, only {line!r}: {state}")
            line += byte
        return line.decode().rstrip("\n")

    def _end_state(self):
        """How a process ended that has closed its output."""
        try:
            _, errors = self.process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            return "the process has closed its output"
        return f"the process ended with {self.process.returncode}, and wrote {errors.decode()!r}"

    def end(self, signal):
        """Sends a signal; returns the exit code, and the remaining standard output and standard error."""
        self.process.send_signal(signal)
        output, errors = self.process.communicate(timeout=30)
        return self.process.returncode, output.decode(), errors.decode()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
