"""`waybridge serve --push-webhook`: pushes for users that are away go to a local server, which checks their signatures."""

import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import queue
import tempfile
import threading
import time
import unittest
import urllib.request

from command import Server, run
from rawsocket import WebSocket

SECRET = base64.b64encode(bytes(range(32))).decode()


class Receiver:
    """A server that records requests, and responds with the next of the given statuses, or 204."""

    def __init__(self, *statuses):
        requests, answers = queue.Queue(), list(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status = answers.pop(0) if answers else 204
                requests.put((self.path, dict(self.headers.items()), body))
                self.send_response(status)
                self.send_header("location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.requests = requests
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        return self.requests.get(timeout=20)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class PushWebhook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tokens = self.private("tokens", "s" * 32)
        self.secret = self.private("secret", f"whsec_{SECRET}\n")

    def private(self, name, content, mode=0o600):
        path = self.folder / name
        path.write_text(content)
        path.chmod(mode)
        return str(path)

    def receiver(self, *statuses):
        receiver = Receiver(*statuses)
        self.addCleanup(receiver.close)
        return receiver

    def serve(self, receiver, *arguments):
        return Server(
            "serve", "--port", "0", "--token-secret-file", self.tokens, "--push-webhook", receiver.url,
            "--push-webhook-secret-file", self.secret, *arguments,
        )  # fmt: skip

    def token(self, user):
        code, output, errors = run("token", "make", "--subject", user, "--secret-file", self.tokens)
        self.assertEqual((0, ""), (code, errors))
        return output.strip()

    def deliver(self, server, user, **params):
        request = urllib.request.Request(
            server.address + "/rpc",
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "router.deliver", "params": params}).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer " + self.token(user)},
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)["result"]

    def assert_signed(self, headers, body):
        headers = {name.lower(): value for name, value in headers.items()}
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        code = base64.b64encode(hmac.new(base64.b64decode(SECRET), signed, hashlib.sha256).digest()).decode()
        self.assertEqual("v1," + code, headers["webhook-signature"])
        self.assertLess(abs(time.time() - int(headers["webhook-timestamp"])), 60)
        self.assertEqual("application/json", headers["content-type"])
        return headers["webhook-id"]

    def test_deep_link_for_user_without_session_is_sent_until_it_is_accepted(self):
        receiver = self.receiver(503, 302)
        with self.serve(receiver) as server:
            result = self.deliver(server, "ada", uri="native://order/7", params={"n": 1}, key="k1")
            self.assertEqual({"sessions": 0, "waiting": 1}, result)
            requests = [receiver.next() for _ in range(3)]
        self.assertEqual(1, len({self.assert_signed(headers, body) for _, headers, body in requests}))
        self.assertEqual({"/hook"}, {path for path, _, _ in requests})
        message = json.loads(requests[0][2])
        self.assertEqual("push.away", message["type"])
        self.assertRegex(message["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        expected = {
            "user": "ada", "method": "router.deliver", "target": "native://order/7", "params": {"n": 1}, "key": "k1", "waiting": True,
        }  # fmt: skip
        self.assertEqual(expected, message["data"])
        self.assertTrue(receiver.requests.empty())

    def test_user_with_connection_gets_link_and_webhook_nothing(self):
        receiver = self.receiver()
        with self.serve(receiver) as server, WebSocket(server.port, subprotocol="waybridge.v1") as client:
            params = {
                "protocol": ["1.0"], "client": {"name": "shell", "version": "1"}, "token": self.token("ada"),
                "hosts": [{"scheme": "native", "kind": "page"}],
            }  # fmt: skip
            client.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": params})
            client.receive()
            self.assertEqual({"sessions": 1, "waiting": 0}, self.deliver(server, "ada", uri="native://order/7"))
            # Messages are sent in order: this one would be the second.
            self.deliver(server, "ben", uri="native://order/8", params={"text": "x" * 9000})
            _, _, body = receiver.next()
            with urllib.request.urlopen(server.address + "/metrics", timeout=20) as response:
                metrics = response.read().decode()
        data = json.loads(body)["data"]
        self.assertEqual(("ben", True, None), (data["user"], data["cut"], data.get("params")))
        self.assertIn('waybridge_away_pushes_total{result="accepted"} 1\n', metrics)
        self.assertIn('waybridge_away_pushes_total{result="dropped"} 0\n', metrics)

    def test_rejected_message_is_logged_once(self):
        receiver = self.receiver(410)
        with self.serve(receiver) as server:
            self.deliver(server, "ada", uri="native://order/7")
            line = server.error_line()
        self.assertIn("push not sent to the webhook", line)
        self.assertIn("has responded with 410", line)
        self.assertNotIn("order/7", line)

    def test_wrong_settings_are_errors(self):
        receiver = self.receiver()
        url, secret = ["--push-webhook", receiver.url], ["--push-webhook-secret-file", self.secret]
        insecure = ["--push-webhook", "http://example.org/hook"]
        for arguments, reason in [
            (url, "add --push-webhook-secret-file"),
            (secret, "has no effect without --push-webhook"),
            (insecure + secret, "must begin with https://"),
            (url + ["--push-webhook-secret-file", str(self.folder / "none")], "cannot be read"),
            (url + ["--push-webhook-secret-file", self.private("open", f"whsec_{SECRET}", 0o644)], "chmod 600"),
            (url + ["--push-webhook-secret-file", self.private("wrong", SECRET)], "whsec_BASE64"),
        ]:
            code, output, errors = run("serve", "--port", "0", *arguments)
            self.assertEqual((1, ""), (code, output), arguments)
            self.assertIn(reason, errors)
            self.assertNotIn(SECRET, errors)


if __name__ == "__main__":
    unittest.main()
