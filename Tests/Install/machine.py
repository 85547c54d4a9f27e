"""A machine to install on: this one, in a folder whose changes are kept in memory and then discarded."""

import os
import pathlib
import subprocess
import tempfile

# Keeps the mounts until its input ends. They are invisible outside.
HOLD = r"""
set -e
mount -t tmpfs -o size=2g tmpfs "$1"
mkdir "$1/changed" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/changed,workdir=$1/work" overlay "$1/root"
for place in proc dev; do mount --rbind "/$place" "$1/root/$place"; done
mount -t tmpfs tmpfs "$1/root/tmp"
mount -t tmpfs tmpfs "$1/root/run"
echo ready
exec cat
"""


class Machine:
    """Needs root or sudo, and a kernel that allows mounts (unshare --mount)."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._root = [] if os.geteuid() == 0 else ["sudo"]
        self._held = subprocess.Popen(
            [*self._root, "unshare", "--mount", "--propagation", "private", "sh", "-c", HOLD, "sh", self._folder.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        if self._held.stdout.readline() != "ready\n":
            self.__exit__()
            raise AssertionError("no folder could be made to install in: that takes root and a kernel with overlay")
        self.root = pathlib.Path(self._folder.name) / "root"
        return self

    def command(self, *arguments, user=None, variables=()):
        """The command line that runs a command in it."""
        # The child of the sudo process, if sudo is used.
        holder = self._held.pid
        if self._root:
            holder = subprocess.run(["pgrep", "-P", str(holder)], check=True, capture_output=True, text=True).stdout.split()[0]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"] if user else []
        variables = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *variables]
        enter = ["nsenter", f"--mount=/proc/{holder}/ns/mnt", "--", "chroot", str(self.root)]
        return [*self._root, *enter, *variables, *become, *map(str, arguments)]

    def run(self, *arguments, user=None, text=None, variables=()):
        """Runs a command in it: its exit code, and its output including standard error."""
        done = subprocess.run(
            self.command(*arguments, user=user, variables=variables), input=text, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stdout

    def read(self, path):
        code, text = self.run("cat", path)
        if code:
            raise AssertionError(text)
        return text

    def write(self, path, text):
        code, output = self.run("tee", path, text=text)
        if code:
            raise AssertionError(output)

    def put(self, file, path):
        """Copies a file of this machine into it."""
        with open(file, "rb") as source:
            subprocess.run(self.command("dd", f"of={path}", "status=none"), stdin=source, check=True, timeout=120)

    def has(self, path):
        return self.run("test", "-e", path)[0] == 0

    def __exit__(self, *_):
        self._held.stdin.close()
        self._held.wait()
        self._held.stdout.close()
        self._folder.cleanup()
