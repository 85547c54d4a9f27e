"""No token, secret or joinToken is in a URL, in the output of nginx, or in the output of the command and a page's client."""

import json
import signal
import subprocess
import unittest

from command import ROOT, WAYBRIDGE, environment, run
from leak_case import WAYS, LeakCase
from proxy import NAME, Proxy
from recorded_clients import Clients
from test_token import claims, with_secret

# The actions of a page's client, and of the guest that it invites, through nginx; and their output when a token is rejected.
SCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
const [web, origin, given, handed] = process.argv.slice(1);
const { Bridge } = await import(`${web}/bridge/bridge.js`);
const { invitationIn } = await import(`${web}/bridge/session/invitation.js`);
const { nodeWebSockets } = await import(`${web}/test/node-ws.js`);
const options = { url: `${origin.replace("http", "ws")}/app/bridge`, WebSocket: nodeWebSockets().WebSocket };
const { good, bad } = JSON.parse(readFileSync(given, "utf8"));
const bridge = new Bridge({ ...options, token: good });
await bridge.ready;
const address = await bridge.invite(`${origin}/app/health`);
const { session, token } = invitationIn(address);
writeFileSync(handed, JSON.stringify([bridge.session.token, bridge.session.joinToken, token, new URL(address).hash.slice(11)]));
await fetch(address);
const guest = new Bridge({ ...options, join: { session, token } });
await guest.ready;
await guest.close();
await bridge.close();
for (const token of bad) {
  const refused = new Bridge({ ...options, token });
  await refused.ready.catch((error) => console.log(error, String(error), JSON.stringify(error)));
  await refused.close();
}
"""


class ProxyLeaks(LeakCase):
    """The log of nginx, which mainly contains URLs."""

    def test_urls_contain_no_secrets(self):
        access = self.folder / "access"
        form = '"$request" "$http_referer" "$http_user_agent" "$http_cookie" $args $status'
        changes = [
            ("server {", f"log_format urls '{form}';\n  server {{\n    access_log {access} urls;"),
            # The certificate has a name that clients on this machine cannot use.
            (" ssl;", ";"), ("proxy_set_header Host $http_host", f"proxy_set_header Host {NAME}"),
        ]  # fmt: skip
        arguments = ["--prefix", "/app", "--allow-host", NAME, "--trusted-proxy", "127.0.0.1"]
        with self.serving(*arguments) as (server, _), Proxy("nginx.conf", server.port, changes) as proxy:
            self.clients = Clients(self.output, proxy.port, "/app")
            with self.clients.stack:
                self.open_sessions()
            self.command(f"ws://127.0.0.1:{proxy.port}/app/bridge")
            self.page(f"http://127.0.0.1:{proxy.port}")
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(timeout=30)
            # Without a bridge, nginx writes the request to its error log.
            self.assertEqual(502, self.clients.post("{}", f"Authorization: Bearer {self.tokens.shell}")[0])
            errors = self.output.add("nginx's log of errors", proxy.log())
        urls = self.output.add("nginx's log of requests", access.read_text())
        self.assertIn('request: "POST /app/rpc HTTP/1.1"', errors)
        for path, count in [("GET /app/bridge", 20), ("POST /app/rpc", 10), ("GET /app/health", 1)]:
            self.assertGreaterEqual(urls.count(f'"{path} HTTP/1.1" '), count, urls)
        self.assertEqual({"/app/bridge", "/app/rpc", "/app/health"}, {line.split()[1] for line in urls.splitlines()})
        self.assert_captured("the page's client", "The token was rejected")
        self.assert_no_leak()

    def open_sessions(self):
        for name, way in WAYS:
            for token in (self.tokens.shell, self.tokens.admin):
                self.assertIn("result", self.clients.open(name, way, token)[1])
            for token in self.tokens.bad:
                self.assertIn("error", self.clients.open(name, way, token)[1])
        for token in (self.tokens.shell, *self.tokens.bad):
            self.clients.post('{"jsonrpc":"2.0","id":1,"method":"$/ping"}', f"Authorization: Bearer {token}")

    def command(self, url):
        for token in (self.tokens.admin, self.tokens.bad[0]):
            for arguments in (["call", "session.list"], ["explain", "native://home"]):
                path = self.file("token", token.encode())
                self.output.add("the command", "".join(run(*arguments, "--url", url, "--token-file", path)[1:]))

    def page(self, origin):
        given = self.file("given", json.dumps({"good": self.tokens.shell, "bad": self.tokens.bad}).encode())
        handed = self.folder / "handed"
        done = subprocess.run(
            ["node", "--input-type=module", "-e", SCRIPT, ROOT / "web", origin, given, handed], capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip
        self.output.add("the page's client", done.stdout + done.stderr)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for number, text in enumerate(json.loads(handed.read_text())):
            self.output.secret(f"the page's secret {number}", text)


class CommandLeaks(LeakCase):
    """The output of the command."""

    def test_only_token_make_prints_a_token(self):
        token = run("token", "make", "--secret-file", self.secret, "--subject", "root", "--groups", "staff")[1].strip()
        self.output.secret("a token that was made", token)
        good = self.file("good", token.encode())
        with self.serving() as (server, _):
            for variables in ({}, {"WAYBRIDGE_URL": server.url, "WAYBRIDGE_TOKEN_FILE": good}):
                arguments = [] if variables else ["--url", server.url, "--token-file", good]
                for command in (["call", "session.list"], ["call", "rpc.discover"], ["call", "session.renew", "{}"], ["call", "nowhere"]):
                    self.print(*command, *arguments, **variables)
                for form in ([], ["--json"]):
                    self.print("explain", "native://home", "native://upgrade", "a b", *form, *arguments, **variables)
            self.print("call", "session.renew", json.dumps({"token": self.tokens.bad[0]}), "--url", server.url, "--token-file", good)
            for number, data in enumerate([*(token.encode() for token in self.tokens.bad + self.tokens.odd), *self.malformed_tokens(token)]):
                bad = self.file(f"bad{number}", data)
                for command in (["call", "session.list"], ["explain", "native://home"]):
                    code, output, errors = self.print(*command, "--url", server.url, "--token-file", bad)
                    self.assertEqual((1, ""), (code, output), errors)
        everybodys = self.file("everybodys", token.encode(), 0o644)
        self.assertIn("(mode 644)", self.print("call", "session.list", "--token-file", everybodys)[2])
        self.assert_no_leak()
        self.assert_captured("the command", "The token was rejected", '"user":"root"', "does not open", "must contain one line")

    def malformed_tokens(self, token):
        """Contents of token files without a valid token."""
        return [f"{token}\n{token}\n".encode(), f"{token}\0".encode(), token.encode() + b"\xff", token.encode() * 200]

    def test_token_show_prints_no_signature(self):
        tokens = [with_secret(claims(**changes), secret=self.tokens.secret) for changes in ({}, {"exp": 1}, {"aud": "shop"})]
        tokens += [with_secret(claims(), secret=self.tokens.other), *self.tokens.odd, *(f"{token}." for token in tokens)]
        for token in tokens:
            if token.count(".") == 2:
                self.output.secret("a token that is shown", token)
            for arguments in ([], ["--secret-file", self.secret]):
                command = [WAYBRIDGE, "token", "show", *arguments, "-"]
                done = subprocess.run(command, input=token, capture_output=True, text=True, timeout=30, env=environment({}))
                self.output.add("the command", done.stdout + done.stderr)
        self.assert_no_leak()
        self.assert_captured("the command", '"valid":true', '"valid":false', "this is not a token", "has expired", "signature")

    def test_errors_contain_no_key(self):
        pem = self.file("pem", b"-----BEGIN PRIVATE KEY-----\n" + self.tokens.secret + b"\n-----END PRIVATE KEY-----\n")
        for name, data, mode in [("short", self.tokens.secret[:24], 0o600), ("open", self.tokens.secret, 0o644)]:
            self.file(name, data, mode)
        for flag in ("--token-secret-file", "--token-key-file"):
            for path in (pem, *(str(self.folder / name) for name in ("short", "open"))):
                code, output, errors = self.print("serve", "--port", "0", flag, path)
                self.assertEqual((1, ""), (code, output), errors)
        for flag in ("--secret-file", "--key-file"):
            self.print("token", "show", flag, pem, self.tokens.odd[1])
        self.print("serve", "--port", "0", "--config", self.secret)
        self.print("token", "make", "--subject", "x", "--secret-file", pem)
        self.assert_no_leak()
        self.assert_captured("the command", "holds a private key", "has a secret of 24 bytes", "(mode 644)", "is not JSON")

    def print(self, *arguments, **variables):
        done = run(*arguments, **variables)
        self.output.add("the command", "".join(done[1:]))
        return done


if __name__ == "__main__":
    unittest.main()
