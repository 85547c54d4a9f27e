"""A server as a service: what it tells who has started it (sd_notify), and the socket that it is handed (sd_listen_fds)."""

import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import unittest

from command import WAYBRIDGE, Server, environment, run
from test_serve import get
from rawsocket import WebSocket

POLICY = '{"rules": [{"name": "all", "allow": ["router.*"]}]}'


class Manager:
    """The socket at which a service manager takes notices."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address.replace("@", "\0", 1))
        self.variables = {"NOTIFY_SOCKET": address}

    def __enter__(self):
        return self

    def notice(self, seconds=20):
        """The next notice, which must come within this time, by the names of its lines."""
        ready, _, _ = select.select([self._socket], [], [], seconds)
        if not ready:
            raise AssertionError("no notice came")
        return dict(line.split("=", 1) for line in self._socket.recv(4096).decode().split("\n"))

    def until(self, name, seconds=20):
        """The next notice that has a line of this name."""
        while name not in (found := self.notice(seconds)):
            pass
        return found

    def __exit__(self, *_):
        self._socket.close()


class Service(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def manager(self, address=None):
        return Manager(address or str(self.folder / "notify"))


class Notices(Service):
    def test_the_start_and_the_end_are_told(self):
        # An abstract name is one of the two kinds of address, a path the other.
        for address in (str(self.folder / "notify"), f"@waybridge-{os.getpid()}"):
            with self.manager(address) as manager, Server("serve", "--port", "0", **manager.variables) as server:
                self.assertEqual({"READY": "1", "STATUS": f"listening on {server.address}"}, manager.notice())
                self.assertEqual(200, get(server.address + "/health")[0])
                self.assertEqual(0, server.end(signal.SIGTERM)[0])
                self.assertEqual({"STOPPING": "1", "EXTEND_TIMEOUT_USEC": "10000000", "STATUS": "draining"}, manager.notice())

    def test_sighup_has_the_files_read(self):
        policy = self.folder / "policy.json"
        policy.write_text(POLICY)
        with self.manager() as manager, Server("serve", "--port", "0", "--policy", str(policy), **manager.variables) as server:
            manager.until("READY")
            with WebSocket(server.port) as client:
                request = {"jsonrpc": "2.0", "id": 1, "method": "router.routes"}
                client.send(request)
                self.assertIn("result", client.receive())
                policy.write_text(POLICY.replace('"allow"', '"deny"'))
                server.process.send_signal(signal.SIGHUP)
                self.assertGreater(int(manager.until("RELOADING")["MONOTONIC_USEC"]), 0)
                self.assertEqual({"READY": "1"}, manager.notice())
                client.send(request)
                self.assertEqual(2403, client.receive()["error"]["code"])
                policy.write_text("{")
                server.process.send_signal(signal.SIGHUP)
                manager.until("RELOADING")
                manager.until("READY")
                client.send(request)
                self.assertEqual(2403, client.receive()["error"]["code"])
            code, _, errors = server.end(signal.SIGTERM)
        self.assertEqual(0, code)
        self.assertIn("policy kept, since its file is wrong", errors)

    def test_without_a_manager_sighup_ends_the_server(self):
        # Where the tests are run by nohup it would be ignored.
        heeded = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)
        with Server("serve", "--port", "0", preexec_fn=heeded) as server:
            self.assertEqual(-signal.SIGHUP, server.end(signal.SIGHUP)[0])

    def test_signs_of_life_come_as_often_as_they_are_wanted(self):
        with self.manager() as manager, Server("serve", "--port", "0", WATCHDOG_USEC="200000", **manager.variables):
            for _ in range(3):
                manager.until("WATCHDOG")

    def test_a_server_that_hangs_gives_none(self):
        with self.manager() as manager, Server("serve", "--port", "0", WATCHDOG_USEC="200000", **manager.variables) as server:
            manager.until("WATCHDOG")
            server.process.send_signal(signal.SIGSTOP)
            with self.assertRaises(AssertionError):
                while manager.until("WATCHDOG", seconds=2):
                    pass

    def test_signs_for_another_process_are_not_given(self):
        variables = {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}
        with self.manager() as manager, Server("serve", "--port", "0", **variables, **manager.variables) as server:
            manager.until("READY")
            server.end(signal.SIGTERM)
            self.assertIn("STOPPING", manager.notice())

    def test_a_manager_that_is_away_is_logged_and_no_more(self):
        with Server("serve", "--port", "0", NOTIFY_SOCKET=str(self.folder / "none")) as server:
            self.assertEqual(200, get(server.address + "/health")[0])
            code, _, errors = server.end(signal.SIGTERM)
        self.assertEqual(0, code)
        self.assertIn("service manager not told", errors)

    def test_what_is_wrong_is_told(self):
        for variables, said in [
            ({"NOTIFY_SOCKET": "relative"}, '"relative" is no Unix socket'),
            ({"NOTIFY_SOCKET": "/" + "x" * 200}, "at most 107 bytes"),
            ({"LISTEN_PID": "x"}, 'LISTEN_PID must be a number, not "x"'),
            ({"NOTIFY_SOCKET": "@a", "WATCHDOG_USEC": "-1"}, "WATCHDOG_USEC must be a number"),
        ]:
            code, _, errors = run("serve", "--port", "0", **variables)
            self.assertEqual(1, code, variables)
            self.assertIn(said, errors)


class HandedOver(Service):
    """A socket that the server did not make."""

    def handed(self, made):
        """A server that gets a listening socket as descriptor 3, and is told so."""
        return HandedServer("serve", "--port", "1", command=self.wrapper(), preexec_fn=lambda: give(made))

    def wrapper(self, count=1):
        """A command that has its own number in LISTEN_PID, as systemd has it."""
        wrapper = self.folder / "handed"
        wrapper.write_text(f'#!/bin/sh\nLISTEN_PID=$$ LISTEN_FDS={count} exec "{WAYBRIDGE}" "$@"\n')
        wrapper.chmod(0o755)
        return str(wrapper)

    def bound(self, family=socket.AF_INET, address=("127.0.0.1", 0)):
        made = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(made.close)
        made.bind(address)
        return made

    def test_tcp_takes_the_place_of_the_port(self):
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            made = self.bound(family, (host, 0))
            made.listen()
            with self.handed(made) as server:
                self.assertEqual(made.getsockname()[1], server.port)
                self.assertEqual(200, get(server.address + "/health")[0])
                if family == socket.AF_INET:
                    with WebSocket(server.port) as client:
                        client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                        self.assertIsNone(client.receive()["result"])

    def test_a_unix_socket_keeps_its_file(self):
        path = self.folder / "socket"
        made = self.bound(socket.AF_UNIX, str(path))
        made.listen()
        with self.handed(made) as server:
            self.assertEqual(str(path), server.unix)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(b"200", client.recv(4096))
            self.assertEqual(0, server.end(signal.SIGTERM)[0])
        self.assertTrue(path.exists())

    def test_who_connects_while_the_server_is_away_waits(self):
        made = self.bound()
        made.listen()
        with socket.create_connection(made.getsockname()) as early:
            early.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with self.handed(made):
                early.settimeout(20)
                self.assertIn(b"200", early.recv(4096))

    def refused(self, made, count=1):
        """The exit code, and what is said on standard error."""
        done = subprocess.run(
            [self.wrapper(count), "serve", "--port", "1"], capture_output=True, text=True, timeout=30,
            preexec_fn=lambda: give(made), close_fds=False, env=environment({}),
        )  # fmt: skip
        return done.returncode, done.stderr

    def test_what_cannot_be_listened_on_is_refused(self):
        others = self.bound(address=("0.0.0.0", 0))
        others.listen()
        deaf = self.bound()
        for made, said in [(others, "listens on 0.0.0.0: only 127.0.0.1 and ::1"), (deaf, "is no stream socket that listens")]:
            code, errors = self.refused(made)
            self.assertEqual(1, code)
            self.assertIn(said, errors)

    def test_several_sockets_are_refused(self):
        made = self.bound()
        made.listen()
        code, errors = self.refused(made, count=2)
        self.assertEqual(1, code)
        self.assertIn("2 sockets were handed over", errors)

    def test_systemd_hands_one_over(self):
        path = str(self.folder / "socket")
        command = ["systemd-socket-activate", "-l", path, "-E", "WAYBRIDGE_DRAIN=0", WAYBRIDGE, "serve", "--port", "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({})) as process:
            try:
                self.assertIn(b"Listening on", process.stderr.readline())
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(20)
                    client.connect(path)
                    client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    self.assertIn(b'{"status":"ok"}', client.recv(4096))
            finally:
                process.terminate()


def give(made):
    """Before a program is started: it gets a socket as descriptor 3."""
    os.dup2(made.fileno(), 3)
    os.set_inheritable(3, True)


class HandedServer(Server):
    def __enter__(self):
        # Descriptor 3 stays open.
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environment,
            preexec_fn=self._preexec, close_fds=False,
        )  # fmt: skip
        return self.begun()


if __name__ == "__main__":
    unittest.main()
