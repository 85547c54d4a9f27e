"""What tests of secrets share: a server that says all it can, and tokens that must not be in it."""

import contextlib
import json
import pathlib
import secrets
import signal
import tempfile
import time
import unittest

from command import ROOT, Server
from heard import Heard, Lines
from test_token import claims, with_secret

TABLE = str(ROOT / "protocol/routes/demo.json")
RULES = [
    {"name": "administrators", "allow": ["*"], "groups": ["staff"], "server": True},
    {"name": "shells", "allow": ["router.*", "host.*", "navigation.*", "page.call", "events.*"], "groups": ["shell"]},
    {"name": "nobody upgrades", "deny": ["router.open", "router.invoke"], "routes": ["upgrade"]},
]

# How a token is handed over: fields of the handshake, its subprotocol, and the params of session.open.
WAYS = [
    ("session.open", lambda token: ((), "waybridge.v1", {"token": token})),
    ("Authorization", lambda token: ((f"Authorization: Bearer {token}",), "waybridge.v1", {})),
    ("subprotocol", lambda token: ((), f"waybridge.v1, bearer.{token}", {})),
]


class Tokens:
    """Good and bad ones of one secret, each with a claim that nobody needs to know; all are secrets, and so is it."""

    def __init__(self, heard):
        self._heard = heard
        self.secret = heard.secret("the key", secrets.token_urlsafe(48).encode())
        now = int(time.time())
        self.shell = self.make("the shell's", sub="anna", groups=["shell"], exp=now + 3600)
        self.newer = self.make("the shell's next", sub="anna", groups=["shell"], exp=now + 7200)
        self.admin = self.make("the administrator's", sub="root", groups=["staff"], exp=now + 3600)
        self.other = heard.secret("another key", secrets.token_urlsafe(48).encode())
        self.bad = [
            self.make("an expired", exp=now - 60),
            self.make("an early", nbf=now + 600),
            self.make("another audience's", aud="shop"),
            self.make("a wrongly signed", with_key=self.other),
            self.make("an unsigned", alg="none"),
            self.make("an unknown key's", alg="EdDSA", kid=heard.secret("a key's id", secrets.token_urlsafe(16))),
            heard.secret("a cut off token", self.shell[:-9]),
            heard.secret("garbage", secrets.token_urlsafe(24)),
            heard.secret("garbage in parts", ".".join(secrets.token_urlsafe(18) for _ in range(3))),
        ]
        # No header field takes these.
        self.odd = [
            heard.secret("odd garbage", secrets.token_urlsafe(24) + ' ";\u00e4'),
            heard.secret("a long token", secrets.token_urlsafe(3500)),
        ]

    def make(self, name, *, with_key=None, alg="HS256", kid=None, **changes):
        note = self._heard.secret(f"the note in {name} token", secrets.token_urlsafe(16))
        header = {"alg": alg} | ({"kid": kid} if kid else {})
        token = with_secret(claims(note=note, **changes), secret=with_key or self.secret, **header)
        return self._heard.secret(f"{name} token", token)


class Secrecy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.heard = Heard()
        self.tokens = Tokens(self.heard)
        self.secret = self.file("secret", self.tokens.secret)
        self.policy = self.file("policy.json", json.dumps({"rules": RULES}).encode())

    def file(self, name, data, mode=0o600):
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(mode)
        return str(path)

    @contextlib.contextmanager
    def serving(self, *arguments):
        """A server that says all it can, and the log that it writes; what it wrote is kept at the end."""
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
            self.heard.add("standard output", server.process.stdout.read().decode())
        self.log = self.heard.add("the log", log.text())

    def assert_no_leak(self):
        leaks = list(self.heard.leaks())
        if leaks:
            self.fail(f"{len(leaks)} leaks, among them\n" + "\n".join(leaks[:20]))

    def assert_heard(self, place, *texts):
        """That there was something to search."""
        all_of_it = "".join(text for where, text, _ in self.heard.texts() if where == place)
        for text in texts:
            self.assertIn(text, all_of_it)
