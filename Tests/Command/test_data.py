"""`waybridge serve --data`: sessions that survive the server, and folders and disks that cannot store any."""

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
    """A client that numbers its messages."""

    def __init__(self, server):
        self.sent = 0
        self._messages = WebSocket(server.port, subprotocol="waybridge.v1")
        self.hello = self._request("session.open", {"protocol": ["1.0"]})

    def _request(self, method, params):
        self._messages.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        return self._messages.receive()["result"]

    def call(self, method, params):
        """Makes a call and returns the response."""
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
        return self._request("session.resume", known | {"received": received, "sent": self.sent})

    def close(self):
        self._messages.close()


def health(server):
    with urllib.request.urlopen(f"{server.address}/health") as response:
        return json.load(response)


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

    def test_client_resumes_after_server_kill(self):
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

    def test_session_is_lost_without_data_folder(self):
        with Server("serve", "--conformance", "--port", "0") as server:
            client = self.client(server)
            client.call("router.invoke", {"uri": "action://echo"})
        with Server("serve", "--conformance", "--port", "0") as server:
            again = client.resume(server, 1)
            self.assertEqual((False, "unknown"), (again["resumed"], again["reason"]))

    def test_data_folder_has_one_server_at_a_time(self):
        with self.serve():
            for command in (("serve", "--port", "0"), ("sessions", "list")):
                code, _, errors = run(*command, "--data", self.folder)
                self.assertEqual(1, code)
                self.assertIn("sessions.db cannot be used", errors)
                self.assertIn("another process uses the file", errors)

    def test_unusable_data_folder_is_reported_at_start(self):
        pathlib.Path(self.folder).mkdir()
        file = pathlib.Path(self.folder, "sessions.db")
        file.write_bytes(b"no database" * 1000)
        file.chmod(0o600)
        code, output, errors = run("serve", "--data", self.folder, "--port", "0")
        self.assertEqual((1, ""), (code, output))
        self.assertIn("file is not a database", errors)
        self.assertEqual(b"no database" * 1000, file.read_bytes())
        code, _, errors = run("serve", "--data", "/dev/null", "--port", "0")
        self.assertEqual(1, code)
        self.assertIn("choose a folder", errors)

    def test_full_disk_fails_no_call_and_is_reported(self):
        def small_files():
            # With this, the server gets the error EFBIG if a file cannot grow, instead of a signal that ends it.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

        with self.serve("--log-format", "json", preexec_fn=small_files) as server:
            client = self.client(server)
            self.assertEqual({"status": "ok"}, health(server))
            text = "x" * 20_000
            for number in range(40):
                response = client.call("router.invoke", {"uri": "action://echo", "params": {"text": text}, "key": f"k{number}"})
                self.assertEqual({"text": text}, response["result"])
            self.assertEqual({"status": "degraded", "reason": "sessions are not persisted"}, health(server))
            with urllib.request.urlopen(f"{server.address}/metrics") as response:
                self.assertIn("waybridge_store_degraded 1", response.read().decode())
            code, _, errors = server.end(signal.SIGTERM)
            self.assertEqual(0, code)
            records = [line for line in map(json.loads, errors.splitlines()) if line["level"] == "error"]
            self.assertEqual(1, len(records), errors)
            self.assertIn("sessions are not persisted", records[0]["message"])


if __name__ == "__main__":
    unittest.main()
