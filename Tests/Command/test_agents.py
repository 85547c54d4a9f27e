"""`POST /mcp`, with the official Python SDK of the Model Context Protocol as the agent."""

import http.client
import json
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import pypi
from command import Server
from rawsocket import WebSocket
from test_token import with_secret

SECRET = b"a secret of at least 32 bytes, in a file"
TABLE = {
    "version": "1",
    "routes": [
        {"name": "share", "pattern": "action://share", "kind": "task", "purpose": "Shares a title.", "agents": {"destructive": False},
         "parameters": {"title": {"type": "string"}}, "required": ["title"],
         "result": {"type": "object", "properties": {"shared": {"type": "string"}}, "required": ["shared"]}},
        {"name": "slow", "pattern": "action://slow", "kind": "task", "purpose": "Takes its time.", "agents": {}},
        {"name": "pay", "pattern": "action://pay", "kind": "task", "purpose": "Pays.", "agents": {}},
        {"name": "private", "pattern": "action://private", "kind": "task"},
    ],
}
POLICY = {
    "rules": [
        {"name": "people use the app", "allow": ["*"]},
        {"name": "the helper acts for people", "allow": ["router.*"], "agents": ["helper"]},
        {"name": "agents do not pay", "deny": ["*"], "agents": ["*"], "routes": ["pay"]},
    ]
}


def token(user, program=None):
    claims = {"sub": user, "aud": "waybridge", "exp": int(time.time()) + 600}
    return with_secret(claims | ({"client_id": program} if program else {}), SECRET)


class App(threading.Thread):
    """A user's app, which runs all tasks of the scheme `action`."""

    def __init__(self, server, user):
        super().__init__(daemon=True)
        self._socket = WebSocket(server.port)
        self.runs = []
        self.cancelled = threading.Event()
        hosts = [{"scheme": "action", "kind": "task"}]
        self._send({"id": 1, "method": "session.open", "params": {"token": token(user), "hosts": hosts}})
        self.session = self._socket.receive()["result"]["session"]
        self.start()

    def _send(self, message):
        self._socket.send({"jsonrpc": "2.0"} | message)

    def run(self):
        while isinstance(message := self._socket.receive(), dict):
            if message.get("method") == "$/cancelRequest":
                self.cancelled.set()
            elif message.get("method") == "task.run":
                self.runs.append(message["params"])
                self._run(message["id"], message["params"])

    def _run(self, number, task):
        if task["uri"].startswith("action://slow"):
            for progress in [1, 2]:
                value = {"progress": progress, "total": 2, "message": f"step {progress}"}
                self._send({"method": "$/progress", "params": {"id": number, "value": value}})
            if not task["params"].get("finishes"):
                return
        self._send({"id": number, "result": {"shared": task["params"].get("title", "")}})

    def close(self):
        self._socket.send(1000)
        self.join(20)
        self._socket.close()


class Agents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder, reason = pypi.installed("mcp==2.3.0", "jbt-mcpcheck==0.1.1")
        if not folder:
            raise unittest.SkipTest(reason)
        cls.python = folder / "bin/python"
        cls.checker = folder / "bin/jbt-mcpcheck"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.secret = self.folder / "secret"
        self.secret.write_bytes(SECRET)
        self.secret.chmod(0o600)
        self.policy = self.folder / "policy.json"
        self.policy.write_text(json.dumps(POLICY))
        table = self.folder / "table.json"
        table.write_text(json.dumps(TABLE))
        self.server = self.enterContext(
            Server("serve", "--port", "0", "--loops", "2", "--table", table, "--policy", self.policy, "--token-secret-file", self.secret))

    def app(self, user="anna"):
        app = App(self.server, user)
        self.addCleanup(app.close)
        return app

    def command(self, mode, *action, bearer=None):
        script = pathlib.Path(__file__).with_name("agent_client.py")
        url = f"http://127.0.0.1:{self.server.port}/mcp"
        return [self.python, script, url, bearer or token("anna", "helper"), mode, *action]

    def agent(self, mode, *action, **options):
        """What an agent got: the last line of its output."""
        done = subprocess.run(self.command(mode, *action, **options), capture_output=True, text=True, timeout=60)
        lines = done.stdout.splitlines()
        self.assertTrue(lines, done.stderr)
        if len(lines) > 1:
            self.assertEqual("2025-11-25" if mode == "legacy" else "2026-07-28", json.loads(lines[0]))
        return json.loads(lines[-1])

    def test_both_revisions_list_and_call_the_tools_of_the_users_app(self):
        for mode in ["2026-07-28", "auto", "legacy"]:
            with self.subTest(mode):
                app, other = self.app(), self.app("ben")
                self.assertEqual(["share", "slow"], self.agent(mode, "list"))
                got = self.agent(mode, "call", "share", '{"title": "Pear"}')
                self.assertEqual({"shared": "Pear"}, got["structured"])
                self.assertEqual({"shared": "Pear"}, json.loads(got["text"]))
                self.assertEqual(app.session, got["meta"]["waybridge/session"])
                self.assertEqual([{"title": "Pear"}], [run["params"] for run in app.runs])
                self.assertEqual("helper", app.runs[0]["caller"]["agent"]["id"])
                self.assertEqual("anna", app.runs[0]["caller"]["agent"]["for"])
                self.assertEqual([], other.runs)

    def test_an_agent_gets_progress_before_the_result(self):
        self.app()
        for mode in ["auto", "legacy"]:
            with self.subTest(mode):
                got = self.agent(mode, "progress", "slow", '{"finishes": true}')
                self.assertEqual([[1, 2, "step 1"], [2, 2, "step 2"]], got["reports"])
                self.assertFalse(got["isError"])

    def test_closing_the_stream_cancels_the_call(self):
        app = self.app()
        self.assertEqual("cancelled", self.agent("auto", "cancel", "slow"))
        self.assertTrue(app.cancelled.wait(20))

    def test_refusals_name_their_rule_and_failures_what_to_do(self):
        for arguments, text in [
            (["pay"], 'The rule is "agents do not pay"'), (["share", '{"title": "Pear"}'], "The app is not open"),
            (["share"], "$.title"), (["share", '{"title": "Pear", "session": "s-other"}'], "Leave out the session"),
        ]:
            with self.subTest(arguments):
                got = self.agent("auto", "call", *arguments)
                self.assertTrue(got["isError"])
                self.assertIn(text, got["text"])
        self.assertEqual(-32602, self.agent("auto", "call", "private")["code"])
        for bearer in [token("anna"), token("anna", "stranger")]:
            self.assertEqual([], self.agent("auto", "list", bearer=bearer))

    def test_an_agent_learns_that_the_tools_have_changed(self):
        with subprocess.Popen(self.command("auto", "listen"), stdout=subprocess.PIPE, text=True) as agent:
            self.assertEqual("2026-07-28", json.loads(agent.stdout.readline()))
            self.assertEqual("listening", json.loads(agent.stdout.readline()))
            changed = self.folder / "changed"
            changed.write_text(json.dumps({"rules": POLICY["rules"][:1]}))
            changed.rename(self.policy)
            self.assertTrue(json.loads(agent.stdout.readline()))
        self.assertEqual([], self.agent("auto", "list"))

    def test_a_checker_of_the_protocol_finds_no_fault(self):
        self.app()
        url = f"http://127.0.0.1:{self.server.port}/mcp"
        checks = [self.checker, "--probe", "all", "--legacy-probes", "--token", token("anna", "helper"), url]
        done = subprocess.run(checks, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("All 8 checks passed", done.stdout)

    def test_requests_without_rights_have_a_status(self):
        for method, fields, status in [
            ("GET", {}, 405), ("DELETE", {}, 405), ("POST", {}, 401), ("POST", {"Authorization": "Bearer wrong"}, 401),
            ("POST", {"Authorization": f"Bearer {token('anna', 'helper')}", "Origin": "https://evil.example"}, 403),
            ("POST", {"Authorization": f"Bearer {token('anna', 'helper')}", "Origin": "null"}, 403),
            ("POST", {"Authorization": f"Bearer {token('anna', 'helper')}", "Host": "evil.example"}, 403),
            ("POST", {"Authorization": f"Bearer {token('anna', 'helper')}", "Content-Type": "text/plain"}, 415),
        ]:
            with self.subTest(method=method, fields=fields):
                connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
                self.addCleanup(connection.close)
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
                connection.request(method, "/mcp", body, {"Content-Type": "application/json"} | fields)
                response = connection.getresponse()
                self.assertEqual(status, response.status)
                if status == 401:
                    self.assertEqual("Bearer", response.getheader("WWW-Authenticate"))
                if status == 405:
                    self.assertEqual("POST", response.getheader("Allow"))


if __name__ == "__main__":
    unittest.main()
