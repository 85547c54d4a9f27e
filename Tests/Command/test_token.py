"""`waybridge token`: tokens that other programs verify, tokens of other programs, and invalid tokens."""

import base64
import datetime
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from command import WAYBRIDGE, Server, environment, run

SECRET = b"a secret of at least 32 bytes, in a file"

# RFC 7515 A.1: an example from another source.
STANDARD = (
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0"
    "dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)


def encoded(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signed(header, claims, sign):
    """A token; `sign` returns the signature of bytes."""
    text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{encoded(sign(text.encode()))}"


def with_secret(claims, secret=SECRET, **header):
    """A token that this test creates, following only RFC 7515."""
    return signed({"alg": "HS256", **header}, claims, lambda text: hmac.digest(secret, text, hashlib.sha256))


def claims(**changes):
    """Valid claims, except for the changes; None omits a claim."""
    all_claims = {"sub": "ada", "aud": "waybridge", "exp": int(time.time()) + 60, **changes}
    return {name: value for name, value in all_claims.items() if value is not None}


class Tokens(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.secret = self.write("secret", SECRET)

    def write(self, name, data, mode=0o600):
        """Writes a file; returns its path."""
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(mode)
        return str(path)


class MakeCommand(Tokens):
    def make(self, *arguments):
        code, output, errors = run("token", "make", "--secret-file", self.secret, "--subject", "ada", *arguments)
        self.assertEqual((0, "", 1), (code, errors, output.count("\n")))
        return output.strip()

    def read(self, token):
        """Header and claims, after the signature was checked."""
        header, payload, signature = token.split(".")
        expected = hmac.digest(SECRET, f"{header}.{payload}".encode(), hashlib.sha256)
        self.assertEqual(encoded(expected), signature)
        return json.loads(decoded(header)), json.loads(decoded(payload))

    def test_token_conforms_to_the_standard(self):
        before = int(time.time())
        header, found = self.read(self.make())
        self.assertEqual({"alg": "HS256", "typ": "JWT"}, header)
        made = found.pop("iat")
        self.assertTrue(before <= made <= time.time(), made)
        self.assertEqual({"sub": "ada", "aud": "waybridge", "exp": made + 8 * 3600}, found)

    def test_options_become_claims_of_token(self):
        further = {"nbf": 7, "tenant": {"id": [1.5, None, "ä"]}}
        header, found = self.read(
            self.make(
                "--groups", "editors,staff", "--expires", "90s", "--audience", "shop", "--key-id", "2027",
                "--claims", json.dumps(further),
            )  # fmt: skip
        )
        self.assertEqual("2027", header["kid"])
        self.assertEqual(90, found.pop("exp") - found.pop("iat"))
        self.assertEqual({"sub": "ada", "groups": ["editors", "staff"], "aud": "shop", **further}, found)

    def test_expiry_follows_the_option(self):
        for text, seconds in [("1s", 1), ("15m", 900), ("8h", 28_800), ("7d", 604_800), ("3650d", 315_360_000)]:
            _, found = self.read(self.make("--expires", text))
            self.assertEqual(seconds, found["exp"] - found["iat"], text)

    def test_secret_can_be_read_from_pipe(self):
        script = f'"$1" token make --secret-file <(echo "{SECRET.decode()}") --subject ada'
        done = subprocess.run(["bash", "-c", script, "bash", WAYBRIDGE], capture_output=True, text=True, timeout=30)
        self.assertEqual("ada", self.read(done.stdout.strip())[1]["sub"])

    def test_invalid_arguments_are_rejected(self):
        for arguments, reason in [
            (["--expires", "8"], '--expires must be a whole number followed by s, m, h or d, from 1s to 3650d, not "8"'),
            (["--expires", "0s"], "--expires"), (["--expires", "-1h"], "--expires"), (["--expires", "8w"], "--expires"),
            (["--expires", "1.5h"], "--expires"), (["--expires", "3651d"], "--expires"), (["--expires", ""], "--expires"),
            (["--expires", "99999999999999999999d"], "--expires"),
            (["--claims", "[]"], "--claims must be a JSON object"), (["--claims", "{"], "--claims must be a JSON object"),
            (["--claims", '{"a": 1, "a": 2}'], "without duplicate names"),
            (["--claims", '{"sub": "eve"}'], '"sub"; set it with --subject'),
            (["--claims", '{"groups": []}'], "--groups"), (["--claims", '{"exp": 1}'], "--expires"),
            (["--claims", '{"aud": "x"}'], "--audience"), (["--claims", '{"iat": 1}'], '"iat"'),
        ]:  # fmt: skip
            code, output, errors = run("token", "make", "--secret-file", self.secret, "--subject", "ada", *arguments)
            self.assertEqual((64, ""), (code, output), arguments)
            self.assertIn(reason, errors)
        for arguments in (["--subject", "ada"], ["--secret-file", self.secret]):
            self.assertEqual(64, run("token", "make", *arguments)[0])

    def test_unusable_secret_is_reported(self):
        for name, data, mode, reason in [
            ("short", b"x" * 31, 0o600, "has a secret of 31 bytes, but a secret needs at least 32"),
            ("line", b"x" * 31 + b"\n", 0o600, "has a secret of 31 bytes"), ("open", SECRET, 0o644, "(mode 644); run: chmod 600"),
            ("long", b"x" * 70_000, 0o600, "is longer than 65536 bytes"),
            ("pem", b"-----BEGIN PUBLIC KEY-----\n" * 3, 0o600, "contains a PEM key"),
        ]:  # fmt: skip
            path = self.write(name, data, mode)
            code, output, errors = run("token", "make", "--secret-file", path, "--subject", "ada")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(f"Error: the secret file {path} ", errors)
            self.assertIn(reason, errors)
            self.assertNotIn("xxxx", errors)
        self.assertIn("cannot be read", run("token", "make", "--secret-file", "/no/such", "--subject", "ada")[2])

    def test_token_that_servers_reject_is_not_made(self):
        for arguments, reason in [
            (["--subject", ""], "`sub` must be"), (["--subject", "x" * 257], "`sub` must be"),
            (["--subject", "a", "--groups", ""], "`groups` must"), (["--subject", "a", "--groups", "b,,c"], "`groups`"),
            (["--subject", "a", "--claims", '{"nbf": "x"}'], "`nbf` must"),
            (["--subject", "a", "--claims", json.dumps({"x": "y" * 7000})], "at most 8192 bytes"),
            (["--subject", "a", "--key-id", "k" * 257], "`kid` must"),
        ]:  # fmt: skip
            code, output, errors = run("token", "make", "--secret-file", self.secret, *arguments)
            self.assertEqual((1, ""), (code, output), arguments)
            self.assertIn("servers would reject this token: ", errors)
            self.assertIn(reason, errors)


class ShowCommand(Tokens):
    def show(self, token, *arguments):
        """The exit code, the shown output, and standard error."""
        done = subprocess.run(
            [WAYBRIDGE, "token", "show", *arguments, "-"], input=token + "\n", capture_output=True, text=True, timeout=30,
            env=environment({}),
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def test_missing_key_prints_that_signature_is_unchecked(self):
        code, shown, errors = self.show(STANDARD)
        self.assertEqual((0, "the signature was NOT verified; give --secret-file, --key-file or --jwks\n"), (code, errors))
        found = {"iss": "joe", "exp": 1300819380, "http://example.com/is_root": True}
        times = {"exp": "2011-03-22T18:43:00Z"}
        self.assertEqual(
            {"header": {"typ": "JWT", "alg": "HS256"}, "claims": found, "times": times, "valid": None}, shown
        )

    def test_token_can_be_an_argument(self):
        code, output, errors = run("token", "show", STANDARD)
        self.assertEqual((0, "joe"), (code, json.loads(output)["claims"]["iss"]))
        self.assertIn("NOT verified", errors)

    def test_times_are_printed_in_utc(self):
        stamp = datetime.datetime(2027, 1, 15, 8, 0, 0, tzinfo=datetime.timezone.utc).timestamp()
        for value, text in [(int(stamp), "2027-01-15T08:00:00Z"), (stamp + 0.75, "2027-01-15T08:00:00Z"), (0, "1970-01-01T00:00:00Z")]:
            _, shown, _ = self.show(with_secret({"exp": value, "nbf": value, "iat": value}))
            self.assertEqual(dict.fromkeys(["iat", "nbf", "exp"], text), shown["times"])
        _, shown, _ = self.show(with_secret({"exp": "never", "nbf": 1e20, "iat": -1}))
        self.assertEqual({}, shown["times"])

    def test_token_of_another_issuer_is_valid(self):
        for token in (
            with_secret(claims()), with_secret(claims(groups=["a"], nbf=1, aud=["x", "waybridge"]), kid="1", typ="JWT"),
        ):  # fmt: skip
            code, shown, errors = self.show(token, "--secret-file", self.secret)
            self.assertEqual((0, True, "the token is valid\n"), (code, shown["valid"], errors))
            self.assertEqual("ada", shown["claims"]["sub"])

    def test_token_made_by_command_is_valid(self):
        token = run("token", "make", "--secret-file", self.secret, "--subject", "ada", "--audience", "shop")[1].strip()
        self.assertEqual(0, self.show(token, "--secret-file", self.secret, "--audience", "shop")[0])
        self.assertEqual(1, self.show(token, "--secret-file", self.secret)[0])

    def test_token_of_key_pair_is_checked(self):
        key, stranger = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        pem = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = self.write("public.pem", pem)
        token = signed({"alg": "EdDSA"}, claims(), key.sign)
        self.assertEqual(0, self.show(token, "--key-file", path)[0])
        self.assertEqual(0, self.show(token, "--key-file", path, "--secret-file", self.secret)[0])
        code, shown, errors = self.show(signed({"alg": "EdDSA"}, claims(), stranger.sign), "--key-file", path)
        self.assertEqual((1, False), (code, shown["valid"]))
        self.assertIn("signature", errors)
        confused = with_secret(claims(), secret=pem)
        for arguments in (["--key-file", path], ["--key-file", path, "--secret-file", self.secret]):
            self.assertEqual((1, False), (lambda done: (done[0], done[1]["valid"]))(self.show(confused, *arguments)))
        code, shown, errors = self.show(token, "--key-file", self.write("private.pem", private))
        self.assertEqual((1, None), (code, shown))
        self.assertIn("holds a private key", errors)
        self.assertNotIn(private.split(b"\n")[1].decode(), errors)

    def test_reasons_of_invalid_tokens_are_printed(self):
        now = int(time.time())
        for token, reason in [
            (with_secret(claims(), secret=SECRET + b"!"), "none of the server's keys made the signature"),
            (with_secret(claims(exp=now - 1)), "`exp`: the token has expired"), (with_secret(claims(exp=None)), "`exp` is missing"),
            (with_secret(claims(nbf=now + 600)), "`nbf`: the token is not valid yet"),
            (with_secret(claims(aud="shop")), '`aud` does not contain "waybridge"'), (with_secret(claims(sub=None)), "`sub` is missing"),
            (with_secret(claims(groups="staff")), "`groups` must"), (with_secret(claims(), alg="none"), "`alg` must be HS256"),
            (with_secret(claims(), alg="HS512"), "`alg` must be HS256"),
        ]:  # fmt: skip
            code, shown, errors = self.show(token, "--secret-file", self.secret)
            self.assertEqual((1, False), (code, shown["valid"]))
            self.assertIn(reason, shown["reason"])
            self.assertEqual(f"Error: the token is invalid: {shown['reason']}\n", errors)

    def test_malformed_token_is_reported(self):
        header, payload, signature = with_secret(claims()).split(".")
        twice = encoded(b'{"sub": "ada", "sub": "eve"}')
        for text, reason in [
            ("", "three parts"), ("a.b", "three parts"), (f"{header}.{payload}", "three parts"), (f"{header}.{payload}.", "not empty"),
            (f"{header}.{payload}.{signature}=", "without padding"), (f"{header}.{twice}.{signature}", "without duplicate names"),
            (f"{encoded(b'[]')}.{payload}.{signature}", "the header must be a JSON object"),
            (f"{header}.{payload}.{signature * 300}", "at most 8192 bytes"),
        ]:  # fmt: skip
            code, shown, errors = self.show(text, "--secret-file", self.secret)
            self.assertEqual((1, None), (code, shown), text)
            self.assertIn("this is not a token: ", errors)
            self.assertIn(reason, errors)
            self.assertNotIn(signature, errors)

    def test_empty_standard_input_is_reported(self):
        done = subprocess.run([WAYBRIDGE, "token", "show", "-"], input="", capture_output=True, text=True, timeout=30)
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("no token on standard input", done.stderr)

    def test_missing_token_is_a_usage_error(self):
        self.assertEqual(64, run("token", "show")[0])


class ServerKeys(Tokens):
    def test_unusable_keys_prevent_start(self):
        for arguments, variables, reason in [
            (["--token-secret-file", self.write("short", b"x")], {}, "has a secret of 1 bytes"),
            (["--token-key-file", self.secret], {}, "holds no public key"),
            ([], {"WAYBRIDGE_TOKEN_SECRET_FILE": "/no/such"}, "cannot be read"),
            ([], {"WAYBRIDGE_TOKEN_KEY_FILE": "/no/such"}, "the key file /no/such cannot be read"),
        ]:  # fmt: skip
            code, output, errors = run("serve", "--port", "0", *arguments, **variables)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)

    def test_keys_are_reloaded_and_invalid_keys_reported(self):
        config = self.write("waybridge.json", json.dumps({"tokenSecretFile": "secret"}).encode())
        with Server("serve", "--port", "0", "--config", config, "--log-level", "info", "--log-format", "json") as server:
            # Output that does not arrive within this time will not arrive.
            watch = threading.Timer(30, server.process.kill)
            watch.start()
            self.addCleanup(watch.cancel)

            def line(message):
                for text in server.process.stderr:
                    record = json.loads(text)
                    if record["message"] == message:
                        return record
                self.fail(f"{message!r} was not told")

            line("listening")
            self.write("secret", b"bad")
            record = line("token keys not changed: their file is invalid")
            self.assertEqual((self.secret, "warning"), (record["file"], record["level"]))
            self.assertIn("has a secret of 3 bytes", record["reason"])
            other = self.write("other", SECRET[::-1])
            os.replace(other, self.secret)
            self.assertEqual(self.secret, line("token keys changed")["file"])


if __name__ == "__main__":
    unittest.main()
