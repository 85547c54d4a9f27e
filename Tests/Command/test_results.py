"""`waybridge serve --check-results`: results that do not fit the route table."""

import json
import re
import unittest
import urllib.request

from command import run
from rawsocket import WebSocket
from test_tables import TableTest


class ResultTest(TableTest):
    """Results that do not fit the table, at hosts and callers that are programs of their own."""

    TABLE = {
        "version": "1",
        "routes": [
            {
                "name": "share", "pattern": "action://share", "kind": "task",
                "result": {"type": "object", "required": ["shared"], "properties": {"shared": {"type": "boolean"}}},
            },
            {
                "name": "pick", "pattern": "native://pick", "kind": "page", "result": {"type": "integer"},
                "methods": {"show": {"parameters": {"part": {"type": "string"}}, "required": ["part"], "result": {"type": "string"}}},
            },
        ],
    }  # fmt: skip

    def open(self, server):
        """A client that hosts the routes."""
        client = WebSocket(server.port, subprotocol="waybridge.v1")
        self.addCleanup(client.close)
        hosts = [{"patterns": ["action://share"], "kind": "task"}, {"scheme": "native", "kind": "page"}]
        self.request(client, "session.open", protocol=["1.0"], client={"name": "shell", "version": "1"}, hosts=hosts)
        return client

    def send(self, client, method, /, **params):
        client.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})

    def request(self, client, method, /, **params):
        """The response to a request, and the messages before it."""
        self.send(client, method, **params)
        before = []
        while (message := client.receive()).get("id") != method:
            before.append(message)
        return message, before

    def invoke(self, client, result):
        """Runs the task, and responds to it as its host. Returns the event for the host, and the caller's response."""
        self.send(client, "router.invoke", uri="action://share?secret=1")
        client.send({"jsonrpc": "2.0", "id": client.receive()["id"], "result": result})
        event = client.receive()
        return event["params"], client.receive()

    def metric(self, server, source):
        text = urllib.request.urlopen(f"{server.address}/metrics", timeout=10).read().decode()
        return int(re.search(rf'^waybridge_invalid_results_total{{source="{source}"}} (\d+)$', text, re.MULTILINE)[1])

    def test_wrong_result_is_rejected(self):
        server = self.serve(self.write("routes.json", json.dumps(self.TABLE).encode()))
        client = self.open(server)
        event, response = self.invoke(client, {"shared": "very"})
        self.assertEqual("route.invalidResult", event["topic"])
        self.assertEqual([2502, "invalidResult"], [response["error"]["code"], response["error"]["data"]["kind"]])
        self.assertEqual(["$.result.shared"], [fault["path"] for fault in response["error"]["data"]["errors"]])
        line = server.error_line()
        self.assertRegex(line, "warning result does not fit its declaration .*")
        for part in ("client=c-", "route=share", "$.result.shared", "uri=action://share", "treatment=rejected"):
            self.assertIn(part, line)
        self.assertNotIn("secret", line)
        self.assertNotIn("very", line)
        self.assertEqual([1, 0, 0], [self.metric(server, source) for source in ("task", "page", "method")])

    def test_wrong_result_is_only_logged(self):
        path = self.write("routes.json", json.dumps(self.TABLE).encode())
        config = self.write("waybridge.json", b'{"checkResults": "log"}')
        for arguments, variables in (
            (["--check-results", "log"], {}), ([], {"WAYBRIDGE_CHECK_RESULTS": "log"}), (["--config", config], {}),
        ):  # fmt: skip
            with self.subTest(arguments=arguments, variables=variables):
                server = self.serve(path, *arguments, **variables)
                client = self.open(server)
                event, response = self.invoke(client, {"shared": "very"})
                self.assertEqual("share", event["data"]["route"])
                self.assertEqual({"shared": "very"}, response["result"])
                self.assertIn('treatment="passed on"', server.error_line())
                self.send(client, "router.open", uri="native://pick")
                asked = client.receive()
                client.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
                page = client.receive()["params"]["value"]["opened"]["page"]
                # Parameters are checked in any case.
                wrong, _ = self.request(client, "page.call", page=page, method="show", params={})
                self.assertEqual(2422, wrong["error"]["code"])
                finished, before = self.request(client, "navigation.finish", page=page, result={"data": "x"})
                self.assertEqual([page], finished["result"]["closed"])
                self.assertEqual({"outcome": "finished", "code": 0, "message": "", "data": "x"}, before[-1]["result"])
                self.assertEqual("route.invalidResult", before[0]["params"]["topic"])
                self.assertEqual([1, 1, 0], [self.metric(server, source) for source in ("task", "page", "method")])

    def test_unknown_mode_is_an_error(self):
        code, _, errors = run("serve", "--check-results", "warn")
        self.assertEqual(64, code)
        self.assertIn("must be one of reject, log", errors)


if __name__ == "__main__":
    unittest.main()
