"""`waybridge serve --data`: sessions that outlive the server, and folders and disks that take none."""

import json
import pathlib
import resource
import signal
import tempfile
import unittest
import urllib.request

from command import Server, run
from rawsocket import WebSocket


class Client:
    """A client that numbers what it sends."""

    def __init__(self, server):
        self.sent = 0
        self._messages = WebSocket(server.port, subprotocol="waybridge.v1")
        self.hello = self._ask("session.open", {"protocol": ["1.0"]})

    def _ask(self, method, params):
        self._messages.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        return self._messages.receive()["result"]

    def call(self, method, params):
        """Calls, and gives the answer."""
        self.sent += 1
        self._messages.send({"jsonrpc": "2.0", "id": self.sent, "seq": self.sent, "method": method, "params": params})
        while True:
            message = self._messages.receive()
            if isinstance(message, int):
                raise ConnectionError(f"the connection was closed with {message}")
            if message.get("id") == self.sent:
                return message

    def resume(self, server, received):
        self.close()
        self._messages = WebSocket(server.port, subprotocol="waybridge.v1")
        known = {name: self.hello[name] for name in ("client", "token", "epoch")}
        return self._ask("session.resume", known | {"received": received, "sent": self.sent})

    def close(self):
        self._messages.close()


def health(server):
    with urllib.request.urlopen(f"{server.address}/health") as answer:
        return json.load(answer)


class Data(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = f"{folder.name}/data"

    def client(self, server):
        client = Client(server)
        self.addCleanup(client.close)
        return client

    def serve(self, *more, **how):
        return Server("serve", "--conformance", "--data", self.folder, "--port", "0", *more, **how)

    def test_a_client_goes_on_with_a_server_that_was_killed(self):
        keyed = {"uri": "action://effect/a/1", "key": "k"}
        with self.serve() as server:
            client = self.client(server)
            self.assertEqual("a-1", client.call("router.invoke", keyed)["result"])
            server.end(signal.SIGKILL)
        code, output, _ = run("sessions", "list", "--data", self.folder, "--json")
        self.assertEqual((0, [client.hello["session"]]), (code, [json.loads(line)["id"] for line in output.splitlines()]))
        with self.serve() as server:
            again = client.resume(server, 1)
            self.assertEqual((True, True, 1), (again["resumed"], again["restarted"], again["received"]))
            self.assertEqual("a-1", client.call("router.invoke", keyed)["result"])
            self.assertEqual({"status": "ok"}, health(server))

    def test_without_a_folder_the_session_is_gone(self):
        with Server("serve", "--conformance", "--port", "0") as server:
            client = self.client(server)
            client.call("router.invoke", {"uri": "action://echo"})
        with Server("serve", "--conformance", "--port", "0") as server:
            again = client.resume(server, 1)
            self.assertEqual((False, "unknown"), (again["resumed"], again["reason"]))

    def test_one_server_uses_a_folder_at_a_time(self):
        with self.serve():
            for command in (("serve", "--port", "0"), ("sessions", "list")):
                code, _, errors = run(*command, "--data", self.folder)
                self.assertEqual(1, code)
                self.assertIn("sessions.db cannot be used", errors)
                self.assertIn("another process uses the file", errors)

    def test_a_folder_that_cannot_be_used_is_told_at_start(self):
        pathlib.Path(self.folder).mkdir()
        file = pathlib.Path(self.folder, "sessions.db")
        file.write_bytes(b"no database" * 1000)
        code, output, errors = run("serve", "--data", self.folder, "--port", "0")
        self.assertEqual((1, ""), (code, output))
        self.assertIn("file is not a database", errors)
        self.assertEqual(b"no database" * 1000, file.read_bytes())
        code, _, errors = run("serve", "--data", "/dev/null", "--port", "0")
        self.assertEqual(1, code)
        self.assertIn("name a folder", errors)

    def test_a_disk_that_is_full_costs_no_call_and_is_told(self):
        def small_files():
            # So the server is told that a file cannot grow (EFBIG), and is not ended by that.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

        with self.serve("--log-format", "json", preexec_fn=small_files) as server:
            client = self.client(server)
            self.assertEqual({"status": "ok"}, health(server))
            text = "x" * 20_000
            for number in range(40):
                answer = client.call("router.invoke", {"uri": "action://echo", "params": {"text": text}, "key": f"k{number}"})
                self.assertEqual({"text": text}, answer["result"])
            self.assertEqual({"status": "degraded", "reason": "sessions are not kept"}, health(server))
            with urllib.request.urlopen(f"{server.address}/metrics") as answer:
                self.assertIn("waybridge_store_degraded 1", answer.read().decode())
            code, _, errors = server.end(signal.SIGTERM)
            self.assertEqual(0, code)
            told = [line for line in map(json.loads, errors.splitlines()) if line["level"] == "error"]
            self.assertEqual(1, len(told), errors)
            self.assertIn("sessions are not kept", told[0]["message"])


if __name__ == "__main__":
    unittest.main()
