"""A server as a service: its notifications (sd_notify), and the socket that it receives (sd_listen_fds)."""

import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import unittest

from command import ROOT, WAYBRIDGE, Server, environment, run
from test_metrics import parse
from test_serve import get
from rawsocket import WebSocket

POLICY = '{"rules": [{"name": "all", "allow": ["router.*"]}]}'


class Manager:
    """The socket at which a service manager receives notifications."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address.replace("@", "\0", 1))
        self.variables = {"NOTIFY_SOCKET": address}

    def __enter__(self):
        return self

    def notification(self, seconds=20):
        """The next notification, which must arrive within this time, by the names of its lines."""
        ready, _, _ = select.select([self._socket], [], [], seconds)
        if not ready:
            raise AssertionError("no notification arrived")
        return dict(line.split("=", 1) for line in self._socket.recv(4096).decode().split("\n"))

    def until(self, name, seconds=20):
        """The next notification that has a line of this name."""
        while name not in (found := self.notification(seconds)):
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


class Notifications(Service):
    def test_ready_and_stopping_are_notified(self):
        # The first is a path, the other an abstract name: both kinds of addresses.
        for address, host in ((str(self.folder / "notify"), "127.0.0.1"), (f"@waybridge-{os.getpid()}", "localhost")):
            with self.manager(address) as manager, Server("serve", "--host", host, "--port", "0", **manager.variables) as server:
                self.assertEqual({"READY": "1", "STATUS": f"listening on {server.address}"}, manager.notification())
                self.assertEqual(200, get(server.address + "/health")[0])
                self.assertEqual(0, server.end(signal.SIGTERM)[0])
                self.assertEqual({"STOPPING": "1", "EXTEND_TIMEOUT_USEC": "10000000", "STATUS": "draining"}, manager.notification())

    def test_sighup_reloads_the_files(self):
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
                self.assertEqual({"READY": "1"}, manager.notification())
                client.send(request)
                self.assertEqual(2403, client.receive()["error"]["code"])
                policy.write_text("{")
                server.process.send_signal(signal.SIGHUP)
                manager.until("RELOADING")
                found = manager.notification()
                self.assertNotIn("READY", found)
                self.assertIn(f"reload: {policy} is not in force: ", found["STATUS"])
                client.send(request)
                self.assertEqual(2403, client.receive()["error"]["code"])
                policy.write_text(POLICY)
                server.process.send_signal(signal.SIGHUP)
                manager.until("RELOADING")
                self.assertEqual({"READY": "1"}, manager.notification())
            code, _, errors = server.end(signal.SIGTERM)
        self.assertEqual(0, code)
        self.assertIn("policy not changed: its file is invalid", errors)

    def test_sighup_without_manager_reloads_each_file(self):
        policy, table, secret = (self.folder / name for name in ("policy.json", "routes.json", "secret"))
        table_text = (ROOT / "protocol/routes/demo.json").read_text()
        good = {policy: POLICY, table: table_text, secret: "s" * 40}
        files = ["--policy", str(policy), "--table", str(table), "--token-secret-file", str(secret), "--allow-anonymous"]
        # file, a content that is rejected, its metric, and the log lines for a good and for the rejected content
        cases = [
            (policy, "{", "waybridge_policy_refusals_total", "policy changed", "policy not changed: its file is invalid"),
            (secret, "short", "waybridge_key_refusals_total", "token keys changed", "token keys not changed: their file is invalid"),
            (table, "{", "waybridge_table_refusals_total", "table not changed: its file has no new one", "table rejected"),
        ]
        for file, bad, metric, accepted, rejected in cases:
            for path, text in good.items():
                path.write_text(text)
            secret.chmod(0o600)
            with Server("serve", "--port", "0", "--log-level", "info", *files) as server:
                before = self.metrics(server)
                self.reload(server, {line for *_, line, _ in cases})
                self.assertEqual(before, self.metrics(server))
                file.write_text(bad)
                self.reload(server, {rejected} | {line for path, *_, line, _ in cases if path != file})
                after = self.metrics(server)
                self.assertEqual({metric}, {name for name in after if after[name] != before[name]})
                self.assertGreaterEqual(after[metric], before[metric] + 1)
                self.assertEqual(0, server.end(signal.SIGTERM)[0])

    def reload(self, server, lines):
        """Makes a server reload its files, and reads its log until it has each of these texts."""
        server.process.send_signal(signal.SIGHUP)
        while lines:
            found = server.error_line()
            lines = {line for line in lines if line not in found}

    @staticmethod
    def metrics(server):
        """The metrics of files: counts of rejections, and the hashes in force."""
        samples, _ = parse(get(server.address + "/metrics")[1])
        return {
            name: sorted(rows) if name.endswith("_info") else sum(rows.values())
            for name, rows in samples.items()
            if name.startswith("waybridge_") and name.endswith(("_refusals_total", "policy_info", "keys_info", "table_info"))
        }

    def test_sighup_during_start_does_not_end_server(self):
        # If the tests run under nohup, the signal would be ignored.
        heeded = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)
        with Server("serve", "--port", "0", preexec_fn=heeded) as server:
            server.process.send_signal(signal.SIGHUP)
            self.assertEqual(200, get(server.address + "/health")[0])
            self.assertEqual(0, server.end(signal.SIGTERM)[0])

    def test_watchdog_notifications_follow_the_interval(self):
        with self.manager() as manager, Server("serve", "--port", "0", WATCHDOG_USEC="200000", **manager.variables):
            for _ in range(3):
                manager.until("WATCHDOG")

    def test_hanging_server_sends_no_watchdog_notifications(self):
        with self.manager() as manager, Server("serve", "--port", "0", WATCHDOG_USEC="200000", **manager.variables) as server:
            manager.until("WATCHDOG")
            server.process.send_signal(signal.SIGSTOP)
            with self.assertRaises(AssertionError):
                while manager.until("WATCHDOG", seconds=2):
                    pass

    def test_watchdog_of_another_process_is_ignored(self):
        variables = {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}
        with self.manager() as manager, Server("serve", "--port", "0", **variables, **manager.variables) as server:
            manager.until("READY")
            server.end(signal.SIGTERM)
            self.assertIn("STOPPING", manager.notification())

    def test_unreachable_manager_is_only_logged(self):
        with Server("serve", "--port", "0", NOTIFY_SOCKET=str(self.folder / "none")) as server:
            self.assertEqual(200, get(server.address + "/health")[0])
            code, _, errors = server.end(signal.SIGTERM)
        self.assertEqual(0, code)
        self.assertIn("service manager not notified", errors)

    def test_invalid_variables_are_reported(self):
        for variables, message in [
            ({"NOTIFY_SOCKET": "relative"}, '"relative" is not a Unix socket'),
            ({"NOTIFY_SOCKET": "/" + "x" * 200}, "at most 107 bytes"),
            ({"LISTEN_PID": "x"}, 'LISTEN_PID must be a number, not "x"'),
            ({"NOTIFY_SOCKET": "@a", "WATCHDOG_USEC": "-1"}, "WATCHDOG_USEC must be a number"),
        ]:
            code, _, errors = run("serve", "--port", "0", **variables)
            self.assertEqual(1, code, variables)
            self.assertIn(message, errors)


class SocketActivation(Service):
    """A socket that the server did not create."""

    def activated(self, made):
        """A server that receives a listening socket as descriptor 3, by socket activation."""
        return SocketActivatedServer("serve", "--port", "1", command=self.wrapper(), preexec_fn=lambda: pass_socket(made))

    def wrapper(self, count=1):
        """A command with its own process id in LISTEN_PID, like under systemd."""
        wrapper = self.folder / "handed"
        wrapper.write_text(f'#!/bin/sh\nLISTEN_PID=$$ LISTEN_FDS={count} exec "{WAYBRIDGE}" "$@"\n')
        wrapper.chmod(0o755)
        return str(wrapper)

    def bound(self, family=socket.AF_INET, address=("127.0.0.1", 0)):
        made = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(made.close)
        made.bind(address)
        return made

    def test_tcp_socket_replaces_port_option(self):
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            made = self.bound(family, (host, 0))
            made.listen()
            with self.activated(made) as server:
                self.assertEqual(made.getsockname()[1], server.port)
                self.assertEqual(200, get(server.address + "/health")[0])
                if family == socket.AF_INET:
                    with WebSocket(server.port) as client:
                        client.send({"jsonrpc": "2.0", "id": 1, "method": "$/ping"})
                        self.assertIsNone(client.receive()["result"])

    def test_unix_socket_file_is_not_removed(self):
        path = self.folder / "socket"
        made = self.bound(socket.AF_UNIX, str(path))
        made.listen()
        with self.activated(made) as server:
            self.assertEqual(str(path), server.unix)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(b"200", client.recv(4096))
            self.assertEqual(0, server.end(signal.SIGTERM)[0])
        self.assertTrue(path.exists())

    def test_early_connection_waits_for_server(self):
        made = self.bound()
        made.listen()
        with socket.create_connection(made.getsockname()) as early:
            early.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with self.activated(made):
                early.settimeout(20)
                self.assertIn(b"200", early.recv(4096))

    def refused(self, made, count=1):
        """The exit code, and the output on standard error."""
        done = subprocess.run(
            [self.wrapper(count), "serve", "--port", "1"], capture_output=True, text=True, timeout=30,
            preexec_fn=lambda: pass_socket(made), close_fds=False, env=environment({}),
        )  # fmt: skip
        return done.returncode, done.stderr

    def test_unusable_sockets_are_rejected(self):
        others = self.bound(address=("0.0.0.0", 0))
        others.listen()
        deaf = self.bound()
        for made, message in [(others, "listens on 0.0.0.0: only 127.0.0.1 and ::1"), (deaf, "is not a listening stream socket")]:
            code, errors = self.refused(made)
            self.assertEqual(1, code)
            self.assertIn(message, errors)

    def test_multiple_sockets_are_rejected(self):
        made = self.bound()
        made.listen()
        code, errors = self.refused(made, count=2)
        self.assertEqual(1, code)
        self.assertIn("passed 2 sockets (LISTEN_FDS)", errors)

    def test_systemd_passes_a_socket(self):
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


def pass_socket(made):
    """Passes a socket as descriptor 3, before a program is started."""
    os.dup2(made.fileno(), 3)
    os.set_inheritable(3, True)


class SocketActivatedServer(Server):
    def __enter__(self):
        # Descriptor 3 stays open.
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environment,
            preexec_fn=self._preexec, close_fds=False,
        )  # fmt: skip
        return self.begun()


if __name__ == "__main__":
    unittest.main()
