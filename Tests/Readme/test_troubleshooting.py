"""web/docs/troubleshooting.md: the messages with which the server does not start are those that the program prints."""

import contextlib
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from readme import ROOT

sys.path.insert(0, str(ROOT / "Tests/Command"))
from command import WAYBRIDGE, Server, environment  # noqa: E402

PAGE = (ROOT / "web/docs/troubleshooting.md").read_text()

# Files in the folder in which the program runs, with their text and mode.
FILES = {
    "not.json": ('{"port": ', 0o600),
    "unknown.json": ('{"prot": 8080}', 0o600),
    "string.json": ('{"port": "8080"}', 0o600),
    "cut.json": ('{"route": [', 0o600),
    "table.json": ('{"version":"1.0","routes":[{"name":"a","pattern":"native://a","kind":"pgae"}]}', 0o600),
    "policy.json": ('{"rules":[{"name":"x","alow":["*"]}]}', 0o600),
    "open": ("0123456789" * 5, 0o644),
    "short": ("ab", 0o600),
    "text": ("no key", 0o600),
    "private.pem": ("-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n", 0o600),
    "damaged/sessions.db": ("This is not a database. " * 100, 0o600),
    "damagedlog/sessions.db": ("", 0o600),
    "shared/file": ("", 0o600),
}

# Messages of the page; the arguments of `serve` that provoke them; the values of the words in capitals. In the arguments,
# BUSY stands for an address and port that another program has bound, and DIR for the folder.
CASES = [
    ('--port must be an integer from 0 to 65535, not "80000"', "--port 80000", {}),
    ("127.0.0.1:PORT is in use by another program; choose another with --port", "--port PORT", {}),
    (
        "cannot listen on 0.0.0.0: only 127.0.0.1, localhost and ::1 are allowed, so that no other machine can connect; authenticate clients"
        " with --token-secret-file, --token-key-file or --token-jwks, or accept all clients with --allow-anonymous",
        "--host 0.0.0.0", {},
    ),
    ("cannot listen on NAME: it is neither an IPv4 or IPv6 address nor localhost", "--allow-anonymous --host shop.example", {"NAME": "shop.example"}),
    ("cannot listen on ADDRESS:0: Cannot assign requested address", "--allow-anonymous --port 0 --host 203.0.113.1", {"ADDRESS": "203.0.113.1"}),
    ("cannot listen at PATH: another program uses the socket, or it cannot be checked", "--unix DIR/socket", {"PATH": "DIR/socket"}),
    ("cannot listen at PATH: a file that is not a socket has this path", "--unix DIR/text", {"PATH": "DIR/text"}),
    ('the configuration file "FILE" cannot be read; check the path of --config', "--config missing", {"FILE": "missing"}),
    ('the configuration file "FILE" is not JSON: line 1, column 10: …', "--config not.json", {"FILE": "not.json"}),
    ('the configuration file "FILE" has invalid settings:', "--config unknown.json", {"FILE": "unknown.json"}),
    ('"prot" is not a setting; did you mean "port"?', "--config unknown.json", {}),
    ("port must be a number, not a string", "--config string.json", {}),
    ("the route table FILE cannot be read: No such file or directory", "--table missing", {"FILE": "missing"}),
    ("the route table FILE is not JSON: line 1, column 12: …", "--table cut.json", {"FILE": "cut.json"}),
    ("the route table FILE is wrong:", "--table table.json", {"FILE": "table.json"}),
    ('$.routes[0].kind: "pgae" is not known; did you mean "page"? … (line 1, column 63)', "--table table.json", {}),
    (
        "the table URL http://shop.example/routes.json must begin with https://; http:// is for addresses of this machine only",
        "--table http://shop.example/routes.json", {},
    ),
    ("the table at URL cannot be fetched: …", "--table-cache DIR/cache --table http://BUSY/", {"URL": "http://BUSY/"}),
    ("the policy FILE cannot be read; check that the file exists and is readable", "--policy missing", {"FILE": "missing"}),
    ("the policy FILE is wrong:", "--policy policy.json", {"FILE": "policy.json"}),
    ('$.rules[0].alow: unknown member; did you mean "allow"? … (line 1, column 23)', "--policy policy.json", {}),
    ("the secret file FILE cannot be read: No such file or directory", "--token-secret-file missing", {"FILE": "missing"}),
    (
        "the secret file FILE can be accessed by other users than its owner (mode 644); run: chmod 600 FILE",
        "--token-secret-file open", {"FILE": "open"},
    ),
    (
        "the secret file FILE has a secret of 2 bytes, but a secret needs at least 32; run: openssl rand -base64 48 > FILE",
        "--token-secret-file short", {"FILE": "short"},
    ),
    ("the key file FILE holds no public key (-----BEGIN PUBLIC KEY-----)", "--token-key-file text", {"FILE": "text"}),
    (
        "the key file FILE holds a private key, which only the issuer of tokens needs; give the server the public one: openssl pkey -in FILE -pubout",
        "--token-key-file private.pem", {"FILE": "private.pem"},
    ),
    ("the tokens' issuer is missing, which --token-jwks requires; add --token-issuer with their iss", "--token-jwks https://id.example/", {}),
    ("the key set at URL cannot be fetched: …", "--token-jwks http://BUSY/ --token-issuer x", {"URL": "http://BUSY/"}),
    ('there is no folder "FOLDER"; check the path of --web', "--web missing", {"FOLDER": "missing"}),
    (
        "FOLDER/sessions.db cannot be used: database is locked [SQLITE_BUSY]; another process uses the file, for example a running server; stop it,"
        " or choose another folder",
        "--data used", {"FOLDER": "used"},
    ),
    ("FOLDER/sessions.db cannot be used: file is not a database [SQLITE_NOTADB]; …", "--data damaged", {"FOLDER": "damaged"}),
    ("FOLDER/sessions.db cannot be used: … is malformed; …", "--data damagedlog", {"FOLDER": "damagedlog"}),
    (
        "FOLDER cannot be used: other users than its owner have access to it (mode 777); run: chmod 700 FOLDER",
        "--data shared", {"FOLDER": "shared"},
    ),
    ("FOLDER cannot be used: the folder cannot be created: …", "--data text/folder", {"FOLDER": "text/folder"}),
    ("sessions are stored in a folder or in NATS, not in both; remove --data or --cluster", "--data new --cluster nats://BUSY", {}),
]
CASES_OF_VARIABLES = [
    ("environment variable WAYBRIDGE_PROT is not a setting; did you mean WAYBRIDGE_PORT?", {"WAYBRIDGE_PROT": "8080"}),
    ('environment variable WAYBRIDGE_PORT must be an integer from 0 to 65535, not "99999"', {"WAYBRIDGE_PORT": "99999"}),
]
# Messages of the section about clusters; the page says that an address is in front of them.
CASES_OF_CLUSTERS = [
    ("the connection failed: No server available for connection; …", "--cluster nats://BUSY"),
    ("the address begins with neither nats:// nor tls://; …", "--cluster http://BUSY"),
    ("2 is not a valid number of replicas; …", "--cluster-replicas 2 --cluster nats://BUSY"),
    ('"a.b" is not a valid name of a cluster; …', "--cluster-name a.b --cluster nats://BUSY"),
    ("a file for TLS has no effect on it; use a tls:// address, or remove the file", "--cluster-ca text --cluster nats://BUSY"),
    ("its addresses differ in scheme, user or password; …", "--cluster nats://BUSY,tls://BUSY"),
]
# Root may listen on every port.
NOT_PROVOKED = {"cannot listen on 127.0.0.1:80: Permission denied"}


def section(title):
    """The text of a section of the page."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]


def messages(text):
    """What the first column of the tables quotes, without codes and names alone."""
    cells = re.findall(r"^\| (.+?) \| ", text, re.M)
    return {quoted for cell in cells for quoted in re.findall(r"`([^`]+)`", cell) if " " in quoted}


def pattern(message, values):
    """A message as a regular expression: each `…` stands for any text."""
    for word, value in values.items():
        message = re.sub(rf"\b{word}\b", value, message)
    return re.escape(message).replace("…", ".+")


class TroubleshootingTests(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name, (text, mode) in FILES.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(mode)
        (self.folder / "shared").chmod(0o777)
        with contextlib.closing(sqlite3.connect(self.folder / "damagedlog/sessions.db")) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE notes (text)")
        (self.folder / "damagedlog/sessions.db-wal").write_text("This is not a log. " * 100)
        # Bound, but it does not listen: the port is in use, and connections to it are refused.
        bound = socket.socket()
        self.addCleanup(bound.close)
        bound.bind(("127.0.0.1", 0))
        self.port = str(bound.getsockname()[1])

    def filled(self, text):
        return text.replace("BUSY", f"127.0.0.1:{self.port}").replace("PORT", self.port).replace("DIR", str(self.folder))

    def check(self, message, arguments=(), variables=None, values=None, prefix=""):
        """Starts the server, and expects a line of standard error that is the message."""
        values = {"PORT": self.port} | {word: self.filled(value) for word, value in (values or {}).items()}
        arguments = [self.filled(argument) for argument in arguments]
        if not variables and not {"--port", "--unix"} & set(arguments):
            arguments += ["--port", "0"]
        done = subprocess.run(
            [WAYBRIDGE, "serve", *arguments], capture_output=True, text=True, timeout=30, cwd=self.folder, env=environment(variables or {})
        )
        lines = done.stderr.removeprefix("Error: ").splitlines()
        expected = re.compile(prefix + pattern(message, values))
        self.assertTrue(any(expected.fullmatch(line) for line in lines), f"{expected.pattern}\n{done.stderr}")
        self.assertEqual(64 if message.startswith("--") else 1, done.returncode, done.stderr)

    def test_messages_of_flags_and_files_are_those_of_the_page(self):
        text = section("The server does not start")
        with Server("serve", "--unix", str(self.folder / "socket"), "--data", str(self.folder / "used")):
            for message, arguments, values in CASES:
                with self.subTest(message):
                    self.assertIn(f"`{message}`", text)
                    self.check(message, arguments.split(), values=values)

    def test_messages_of_environment_variables_are_those_of_the_page(self):
        for message, variables in CASES_OF_VARIABLES:
            with self.subTest(message):
                self.assertIn(f"`{message}`", section("The server does not start"))
                self.check(message, variables=variables)

    def test_messages_of_clusters_are_those_of_the_page(self):
        for message, arguments in CASES_OF_CLUSTERS:
            with self.subTest(message):
                self.assertIn(f"`{message}`", section("Clusters"))
                self.check(message, arguments.split(), prefix=r"\S+ cannot be used: ")

    def test_every_message_of_the_section_is_compared(self):
        compared = {message for message, *_ in [*CASES, *CASES_OF_VARIABLES]}
        self.assertEqual(set(), messages(section("The server does not start")) - compared - NOT_PROVOKED)


if __name__ == "__main__":
    unittest.main()
