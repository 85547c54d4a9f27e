"""The shared parts of the tests of secrets: a server with all its output, and tokens that must not be in it."""

import contextlib
import json
import pathlib
import secrets
import signal
import tempfile
import time
import unittest

from captured_output import CapturedOutput, Lines
from command import ROOT, Server
from test_token import claims, with_secret

TABLE = str(ROOT / "protocol/routes/demo.json")
RULES = [
    {"name": "administrators", "allow": ["*"], "groups": ["staff"], "server": True},
    {"name": "shells", "allow": ["router.*", "host.*", "navigation.*", "page.call", "events.*"], "groups": ["shell"]},
    {"name": "nobody upgrades", "deny": ["router.open", "router.invoke"], "routes": ["upgrade"]},
]

# How a token is sent: header fields of the handshake, its subprotocol, and the params of session.open.
WAYS = [
    ("session.open", lambda token: ((), "waybridge.v1", {"token": token})),
    ("Authorization", lambda token: ((f"Authorization: Bearer {token}",), "waybridge.v1", {})),
    ("subprotocol", lambda token: ((), f"waybridge.v1, bearer.{token}", {})),
]


class Tokens:
    """Good and bad tokens of one secret, each with a claim that must stay private. All of them, and the secret, are secrets."""

    def __init__(self, output):
        self._output = output
        self.secret = output.secret("the key", secrets.token_urlsafe(48).encode())
        now = int(time.time())
        self.shell = self.make("the shell's", sub="anna", groups=["shell"], exp=now + 3600)
        self.newer = self.make("the shell's next", sub="anna", groups=["shell"], exp=now + 7200)
        self.admin = self.make("the administrator's", sub="root", groups=["staff"], exp=now + 3600)
        self.other = output.secret("another key", secrets.token_urlsafe(48).encode())
        self.bad = [
            self.make("an expired", exp=now - 60),
            self.make("an early", nbf=now + 600),
            self.make("another audience's", aud="shop"),
            self.make("a wrongly signed", with_key=self.other),
            self.make("an unsigned", alg="none"),
            self.make("an unknown key's", alg="EdDSA", kid=output.secret("a key's id", secrets.token_urlsafe(16))),
            output.secret("a cut off token", self.shell[:-9]),
            output.secret("garbage", secrets.token_urlsafe(24)),
            output.secret("garbage in parts", ".".join(secrets.token_urlsafe(18) for _ in range(3))),
        ]
        # No header field takes these.
        self.odd = [
            output.secret("odd garbage", secrets.token_urlsafe(24) + ' ";\u00e4'),
            output.secret("a long token", secrets.token_urlsafe(3500)),
        ]

    def make(self, name, *, with_key=None, alg="HS256", kid=None, **changes):
        note = self._output.secret(f"the note in {name} token", secrets.token_urlsafe(16))
        header = {"alg": alg} | ({"kid": kid} if kid else {})
        token = with_secret(claims(note=note, **changes), secret=with_key or self.secret, **header)
        return self._output.secret(f"{name} token", token)


class LeakCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = CapturedOutput()
        self.tokens = Tokens(self.output)
        self.secret = self.file("secret", self.tokens.secret)
        self.policy = self.file("policy.json", json.dumps({"rules": RULES}).encode())

    def file(self, name, data, mode=0o600):
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(mode)
        return str(path)

    @contextlib.contextmanager
    def serving(self, *arguments):
        """A server with its most verbose log; its output is stored at the end."""
        with Server(
            "serve", "--port", "0", "--conformance", "--table", TABLE, "--policy", self.policy, "--token-secret-file",
            self.secret, "--log-level", "trace", *arguments,
        ) as server, Lines(server.process.stderr) as log:  # fmt: skip
            try:
                yield server, log
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(0, server.process.wait(timeout=30))
            finally:
                server.process.kill()
            self.output.add("standard output", server.process.stdout.read().decode())
        self.log = self.output.add("the log", log.text())

    def assert_no_leak(self):
        leaks = list(self.output.leaks())
        if leaks:
            self.fail(f"{len(leaks)} leaks, among them\n" + "\n".join(leaks[:20]))

    def assert_captured(self, place, *texts):
        """Checks that there was output to search."""
        all_of_it = "".join(text for where, text, _ in self.output.texts() if where == place)
        for text in texts:
            self.assertIn(text, all_of_it)
