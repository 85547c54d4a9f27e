"""The servers that `run` compares: how each is started, on a core of its own, and its port."""

import argparse
import functools
import os
import pathlib
import resource
import shlex
import socket
import subprocess
import time
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INVOKE = HERE / "messages/invoke.txt"
NUMBERED = HERE / "messages/invoke-numbered.txt"
HELLO = HERE / "messages/hello.txt"
LIBRARIES = ["libwebsockets-dev", "libuv1-dev", "libsimdjson-dev", "libsqlite3-dev", "libcurl4-openssl-dev", "libssl-dev", "libnats-dev"]
# Time within which a server has to listen, in seconds.
TIMEOUT = 20


@dataclass(frozen=True)
class Server:
    """A server of a comparison. `says_port`: it accepts the port 0, and its first line ends with the actual one; others
    get a port as their last argument. `greets`: its clients open a session first. `idle`: the number of further idle clients with
    sessions. `spreads`: it runs on all cores."""

    name: str
    command: list
    prints_port: bool = False
    greets: bool = False
    messages: pathlib.Path = INVOKE
    environment: dict = field(default_factory=dict)
    idle: int = 0
    spreads: bool = False


@dataclass
class Running:
    server: Server
    process: subprocess.Popen
    port: int


def install(*packages):
    """Installs the Debian packages that are missing."""
    subprocess.run(["bash", HERE.parent / "install", *packages], check=True, stdout=2)


@functools.cache
def waybridge():
    """The command as README builds it, or the built one that the environment's WAYBRIDGE names."""
    if os.environ.get("WAYBRIDGE"):
        return os.path.abspath(os.environ["WAYBRIDGE"])
    install(*LIBRARIES)
    build = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "waybridge"]
    subprocess.run(build, cwd=ROOT, check=True, stdout=2)
    folder = subprocess.run([*build, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return folder.stdout.strip() + "/waybridge"


def built(product):
    """A product of the package in this folder, built."""
    install(*LIBRARIES)
    line = f"source ./build && built {shlex.quote(product)}"
    return subprocess.run(["bash", "-c", line], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def compiled(source, target, *libraries):
    """A C program of this folder, compiled."""
    subprocess.run(["cc", "-O2", "-o", target, HERE / source, *libraries], check=True)
    return str(target)


def peers(scratch):
    """The servers other than Waybridge, ready to run."""
    install("gcc", "libwebsockets-dev", "libuv1-dev", "nodejs", "node-ws", "python3", "python3-websockets")
    environment = {"NODE_PATH": "/usr/share/nodejs"}
    return [
        Server("libwebsockets + libuv (C)", [compiled("peers/lws_gathered.c", scratch / "gathered", "-lwebsockets", "-luv")]),
        Server("libwebsockets (C)", [compiled("peers/lws.c", scratch / "lws", "-lwebsockets")]),
        Server("ws (Node)", ["/usr/bin/node", str(HERE / "peers/node_ws.js")], environment=environment),
        Server("websockets (Python)", ["/usr/bin/python3", str(HERE / "peers/python_websockets.py")]),
    ]


def named_peer(text):
    """The server that `--peer NAME=PROGRAM` means."""
    name, sign, program = text.partition("=")
    if not (name and sign and shlex.split(program)):
        raise argparse.ArgumentTypeError(f"NAME=PROGRAM is wanted, not {text!r}")
    return Server(name, shlex.split(program))


def cores():
    """One core for the servers and one for the load; None if there is only one."""
    available = sorted(os.sched_getaffinity(0))
    return (available[0], available[1]) if len(available) > 1 else None


def pinned(command, core):
    return command if core is None else ["taskset", "-c", str(core), *command]


def allow_connections(count):
    """Allows this process and its children this number of open connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < count + 100:
        raise SystemExit(f"{count} connections need more descriptors than the {most} of `ulimit -Hn`")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def start(server, core=None):
    """Starts a server and waits until it listens."""
    pipe = subprocess.PIPE if server.prints_port else subprocess.DEVNULL
    port = 0 if server.prints_port else free_port()
    command = server.command if server.prints_port else [*server.command, str(port)]
    process = subprocess.Popen(
        pinned(command, None if server.spreads else core), stdout=pipe, text=True, env={**os.environ, **server.environment}
    )
    if server.prints_port:
        line = process.stdout.readline()
        if ":" not in line:
            process.wait()
            raise SystemExit(f"{server.name} did not start")
        return Running(server, process, int(line.rsplit(":", 1)[1]))
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return Running(server, process, port)
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                process.wait()
                raise SystemExit(f"{server.name} does not listen at 127.0.0.1:{port}") from None
            time.sleep(0.05)


def resident(running):
    """Resident memory of the server in bytes."""
    status = pathlib.Path(f"/proc/{running.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024


def stop(running):
    running.process.kill()
    running.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
