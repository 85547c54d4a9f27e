"""The server under test, as its own process on a free port."""

import os
import subprocess


class DemoServer:
    """`waybridge demo`, or another command; the environment's WAYBRIDGE names the executable. `port` 0 is any free port."""

    def __init__(self, port=0, arguments=("demo",)):
        command = os.environ.get("WAYBRIDGE")
        if not command:
            raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")
        self._process = subprocess.Popen(
            [command, *arguments, "--port", str(port)], stdout=subprocess.PIPE, text=True
        )
        line = self._process.stdout.readline()
        prefix = "listening on "
        if not line.startswith(prefix):
            self.stop()
            raise RuntimeError(f"the server's first line was {line!r}")
        self.address = line.removeprefix(prefix).strip()
        self.port = int(self.address.rpartition(":")[2])

    def crash(self):
        """Kills the server."""
        self._process.kill()
        self.stop()

    def stop(self):
        """Ends the server and returns its exit status."""
        self._process.terminate()
        try:
            return self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            self._process.stdout.close()
