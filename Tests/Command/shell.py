"""`waybridge shell`, driven through pipes or at a terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from command import WAYBRIDGE, environment

TIMEOUT = 20


class Shell:
    """A shell with lines that the test types, from its first line to the end of the `with` block."""

    def __init__(self, url, *arguments, **variables):
        self._command = [WAYBRIDGE, "shell", "--url", url, *arguments]
        self._environment = environment(variables)
        self._rest = b""
        # Every line so far.
        self.lines = []

    def __enter__(self):
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environment
        )
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def joined(self):
        """Waits until the shell is ready; returns the flags with which others join."""
        line = self.until("others join with ")
        flags = line.removeprefix("others join with ").split()
        self.session, self.join = flags[1], flags[3]
        return flags

    def line(self):
        """The next line."""
        end = time.monotonic() + TIMEOUT
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not piece:
                raise AssertionError(f"no line came after {self.lines}")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        self.lines.append(line.decode())
        return self.lines[-1]

    def until(self, start):
        """The next line with this prefix."""
        while True:
            line = self.line()
            if line.startswith(start):
                return line

    def until_all(self, *starts):
        """The next lines with these prefixes, which come in any order."""
        found = {}
        while len(found) < len(starts):
            line = self.line()
            found |= {start: line for start in starts if start not in found and line.startswith(start)}
        return [found[start] for start in starts]

    def close(self):
        """Ends the input."""
        self.process.stdin.close()
        self.process.stdin = None

    def type(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()


class Terminal:
    """A shell at a terminal with this number of columns and rows. Its screen is emulated like that of a terminal."""

    ESCAPE = re.compile(r"\x1b(?:\[(\??[\d;]*)([A-Za-z])|([78]))")

    def __init__(self, url, *arguments, columns=80, rows=24, **variables):
        self._command = [WAYBRIDGE, "shell", "--url", url, *arguments]
        self._environment = environment({"TERM": "xterm"} | variables)
        if "NO_COLOR" not in variables:
            self._environment.pop("NO_COLOR", None)
        self._size = (columns, rows)
        # Everything that the terminal has received.
        self.sent = ""
        self._rest = b""

    def __enter__(self):
        self._own, theirs = pty.openpty()
        self.resize(*self._size)
        self.process = subprocess.Popen(
            self._command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=self._environment,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(theirs)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self._own)

    def resize(self, columns, rows):
        self._size = (columns, rows)
        self._screen = [[" "] * columns for _ in range(rows)]
        self._at = (0, 0)
        # The terminal notifies its programs.
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, line):
        os.write(self._own, line.encode() + b"\n")

    def screen(self, *texts, without=(), prompt=""):
        """The rows, once each of the texts is on one of them, none of the others is, and the prompt is on the last."""
        end = time.monotonic() + TIMEOUT
        while True:
            rows = ["".join(row).rstrip() for row in self._screen]
            whole = "\n".join(rows)
            if rows[-1].startswith(prompt) and all(text in whole for text in texts) and not any(text in whole for text in without):
                return rows
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{texts} did not come; there is\n{whole}")

    def membership(self):
        """The session and its join token, as shown on the screen."""
        text = "\n".join(self.screen("others join with", "\u2502 join "))
        return [re.search(rf"{name} (\S+)", text)[1] for name in ("\u2502 session", "\u2502 join")]

    def ended(self):
        """The exit code, once the program has ended."""
        end = time.monotonic() + TIMEOUT
        while self._read(end - time.monotonic()):
            pass
        return self.process.wait(timeout=TIMEOUT)

    def _read(self, timeout):
        ready, _, _ = select.select([self._own], [], [], max(0, timeout))
        try:
            piece = os.read(self._own, 65536) if ready else b""
        except OSError:
            # No process has the other side open any more.
            return False
        if not piece:
            return False
        self._rest += piece
        text = self._rest.decode(errors="ignore")
        # Incomplete data waits for the rest.
        cut = text.rfind("\x1b")
        if cut >= 0 and not self.ESCAPE.match(text, cut):
            text = text[:cut]
        self._rest = self._rest[len(text.encode()) :]
        self.sent += text
        self._write(text)
        return True

    def _write(self, text):
        index = 0
        while index < len(text):
            escape = self.ESCAPE.match(text, index)
            if escape:
                self._obey(escape[1] or "", escape[2] or escape[3])
                index = escape.end()
            else:
                self._put(text[index])
                index += 1

    def _put(self, character):
        row, column = self._at
        columns, rows = self._size
        if character == "\r":
            self._at = (row, 0)
        elif character == "\n":
            if row == rows - 1:
                self._screen = self._screen[1:] + [[" "] * columns]
            else:
                self._at = (row + 1, column)
        elif row < rows and column < columns:
            self._screen[row][column] = character
            self._at = (row, column + 1)

    def _obey(self, numbers, command):
        row, column = self._at
        columns, rows = self._size
        if command == "H":
            wanted = [int(number) for number in numbers.split(";")] if numbers else [1, 1]
            self._at = (wanted[0] - 1, wanted[1] - 1)
        elif command == "K":
            if row < rows:
                self._screen[row][column:] = [" "] * max(0, columns - column)
        elif command == "J":
            self._screen = [[" "] * columns for _ in range(rows)]
        elif command == "7":
            self._saved = self._at
        elif command == "8":
            self._at = self._saved
        elif command not in ("m", "h", "l"):
            raise AssertionError(f"the terminal was sent {numbers}{command}")
