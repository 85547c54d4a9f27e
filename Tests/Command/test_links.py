"""Deep links and pushes of a back-end over HTTP, and links whose app is away or whose server is started again."""

import json
import pathlib
import secrets
import signal
import tempfile
import unittest
import urllib.request

from cluster_client import ClusterClient
from command import Server, run

PAGES = [{"scheme": "native", "kind": "page"}]


class Links(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.secret = self.folder / "secret"
        self.secret.write_text(secrets.token_urlsafe(32))
        self.secret.chmod(0o600)
        self.policy = self.folder / "policy.json"
        rules = [
            {"name": "users", "allow": ["router.*", "host.register", "navigation.*", "events.*"]},
            {"name": "staff", "allow": ["session.push", "event*"], "groups": ["staff"]},
        ]
        self.policy.write_text(json.dumps({"rules": rules}))

    def serve(self, *more):
        server = Server(
            "serve", "--conformance", "--port", "0", "--token-secret-file", str(self.secret), "--policy", str(self.policy), *more
        ).__enter__()
        self.addCleanup(server.__exit__)
        return server

    def token(self, *arguments):
        code, token, errors = run("token", "make", "--secret-file", str(self.secret), *arguments)
        self.assertEqual(0, code, errors)
        return token.strip()

    def app(self, server, user="ada", **hello):
        client = ClusterClient(server, token=self.token("--subject", user), **hello)
        self.addCleanup(client.close)
        return client

    def post(self, server, token, method, params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{server.address}/rpc", body, fields)) as response:
            return json.load(response)

    def accept(self, client):
        request = client.request("page.open")
        client.respond(request, None)
        return request["params"]["page"]["uri"]

    def test_posted_link_reaches_the_sessions_of_its_user(self):
        server = self.serve()
        ada = self.token("--subject", "ada")
        early = {"uri": "native://orders", "key": "early"}
        for _ in range(2):
            self.assertEqual({"sessions": 0, "waiting": 1}, self.post(server, ada, "router.deliver", early)["result"])
        other = self.app(server, "ben", hosts=PAGES)
        app = self.app(server, hosts=PAGES)
        self.assertEqual("native://orders", self.accept(app))
        link = {"action": "openPage", "action_url": "native://trip/rome"}
        self.assertEqual({"sessions": 1, "waiting": 0}, self.post(server, ada, "router.deliver", link)["result"])
        self.assertEqual("native://trip/rome", self.accept(app))
        for client in (app, other):
            self.assertEqual([], client.call("navigation.stack")["result"]["pages"][2:])

    def test_back_end_gets_receipts_of_pushes(self):
        server = self.serve()
        staff = self.token("--subject", "shop", "--groups", "staff")
        link = {"to": {"user": "ada"}, "method": "router.deliver", "params": {"action": "openPage", "action_url": "native://orders"}, "key": "k"}
        event = {"to": {"user": "ada"}, "method": "event", "params": {"topic": "news", "data": 1}}
        none = {"delivered": 0, "waiting": 0, "nobody": 1, "failed": 0}
        self.assertEqual(none, self.post(server, staff, "session.push", event)["result"])
        app = self.app(server, hosts=PAGES)
        for _ in range(2):
            result = self.post(server, staff, "session.push", link)["result"]
            self.assertEqual((1, 0, 0, 0), tuple(result[name] for name in none))
            self.assertEqual([(app.hello["session"], "ada", "delivered")], [(each["session"], each["user"], each["state"]) for each in result["results"]])
        self.assertEqual("native://orders", self.accept(app))
        changed = self.post(server, staff, "session.push", link | {"params": {"uri": "native://home"}})
        self.assertEqual(2409, changed["error"]["code"])
        self.assertEqual(none, self.post(server, staff, "session.push", event)["result"])
        app.call("events.subscribe", {"topics": ["news"]})
        self.assertEqual({**none, "delivered": 1, "nobody": 0}, self.post(server, staff, "session.push", event)["result"])
        self.assertEqual(1, len(app.call("navigation.stack")["result"]["pages"]))

    def test_link_waits_for_its_host_across_a_restart(self):
        data = str(self.folder / "data")
        server = self.serve("--data", data)
        app = self.app(server, hosts=PAGES)
        app.call("navigation.stack")
        staff = self.token("--subject", "shop", "--groups", "staff")
        app.drop()
        link = {"to": {"session": app.hello["session"]}, "method": "router.deliver", "params": {"uri": "native://orders"}, "key": "k"}
        # The server notices the end of the connection a little later.
        result = self.post(server, staff, "session.push", link)["result"]
        self.assertEqual(1, result["delivered"] + result["waiting"])
        server.end(signal.SIGKILL)
        again = self.serve("--data", data)
        app.resume(again)
        self.assertEqual("native://orders", self.accept(app))
        repeated = self.post(again, staff, "session.push", link)["result"]
        self.assertEqual([result[name] for name in ("delivered", "waiting")], [repeated[name] for name in ("delivered", "waiting")])
        self.assertEqual(1, len(app.call("navigation.stack")["result"]["pages"]))


if __name__ == "__main__":
    unittest.main()
