"""`waybridge serve --token-jwks`: tokens of an identity provider, whose keys come from a local server."""

import json
import time
import unittest
import urllib.error
import urllib.request

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from command import Server, run
from table_source import TableSource
from test_token import encoded, signed, with_secret

ISSUER = "https://id.example.org/realms/shop"


def claims(**changes):
    """Claims as the provider writes them, except for the changes."""
    now = int(time.time())
    return {
        "iss": ISSUER, "sub": "ada", "aud": ["shop", "account"], "iat": now, "exp": now + 60,
        "realm_access": {"roles": ["staff"]}, **changes,
    }  # fmt: skip


def number(value, size=None):
    return encoded(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class RSAKey:
    def __init__(self, kid):
        self.kid, self.key = kid, rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def jwk(self):
        numbers = self.key.public_key().public_numbers()
        return {"kty": "RSA", "use": "sig", "kid": self.kid, "n": number(numbers.n), "e": number(numbers.e)}

    def token(self, **changes):
        def sign(text):
            return self.key.sign(text, padding.PKCS1v15(), hashes.SHA256())

        return signed({"alg": "RS256", "typ": "JWT", "kid": self.kid}, claims(**changes), sign)


class ECKey:
    def __init__(self, kid):
        self.kid, self.key = kid, ec.generate_private_key(ec.SECP256R1())

    def jwk(self):
        numbers = self.key.public_key().public_numbers()
        point = {"x": number(numbers.x, 32), "y": number(numbers.y, 32)}
        return {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid, **point}

    def token(self, **changes):
        def sign(text):
            r, s = decode_dss_signature(self.key.sign(text, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")

        return signed({"alg": "ES256", "typ": "JWT", "kid": self.kid}, claims(**changes), sign)


def document(*keys):
    return json.dumps({"keys": [key if isinstance(key, dict) else key.jwk() for key in keys]}).encode()


class ProviderTest(unittest.TestCase):
    def setUp(self):
        source = TableSource()
        self.addCleanup(source.__exit__)
        self.source = source.__enter__()
        self.options = [
            "--token-jwks", self.source.url, "--token-issuer", ISSUER, "--token-audience", "shop",
            "--token-groups-claim", "realm_access.roles",
        ]  # fmt: skip

    def serve(self, *arguments):
        server = Server("serve", "--port", "0", *self.options, *arguments)
        self.addCleanup(server.__exit__)
        return server.__enter__()

    def status(self, server, token):
        """Whether the server accepts a token: the code of the error, or None."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{server.address}/rpc", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return json.load(response).get("error", {}).get("code")
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def metric(self, server, name):
        text = urllib.request.urlopen(f"{server.address}/metrics", timeout=10).read().decode()
        return [int(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " ")][0]

    def test_tokens_of_the_provider_are_accepted(self):
        rs, es, stranger = RSAKey("r"), ECKey("e"), ECKey("e")
        self.source.set_response(document(rs, es, {"kty": "oct", "kid": "o", "k": encoded(b"x" * 32)}), etag='"1"')
        server = self.serve()
        for token in (rs.token(), es.token()):
            self.assertIsNone(self.status(server, token))
        secret = encoded(rs.key.public_key().public_numbers().n.to_bytes(256, "big")).encode()
        for token in (
            rs.token(iss="https://other.example.org"), rs.token(aud="account"), rs.token(exp=1), es.token(nbf=int(time.time()) + 600),
            es.token(realm_access={"roles": "staff"}), stranger.token(), RSAKey("r").token(), with_secret(claims(), secret=secret, kid="r"),
            with_secret(claims(), secret=b"x" * 32, kid="o"),
        ):  # fmt: skip
            self.assertIsNotNone(self.status(server, token))
        self.assertEqual(1, len(self.source.etags))

    def test_last_keys_stay_while_the_provider_is_unavailable(self):
        key, new = RSAKey("1"), RSAKey("2")
        self.source.set_response(document(key))
        server = self.serve()
        self.source.set_response(b"", status=503)
        # The start has fetched the keys less than 30 seconds ago, so that only SIGHUP fetches them.
        self.assertIsNotNone(self.status(server, new.token()))
        self.assertEqual(1, len(self.source.etags))
        server.process.send_signal(1)
        while "token keys not fetched; the last valid ones are used" not in server.error_line():
            pass
        self.assertEqual(1, self.metric(server, "waybridge_key_fetch_failures_total"))
        self.assertIsNone(self.status(server, key.token()))

    def test_server_does_not_start_without_keys(self):
        for body, status, reason in [
            (b"", 404, "the server answered 404"), (b"<html>", 200, "is not a JSON object"), (b'{"keys": []}', 200, "holds no public key"),
            (b" " * (256 << 10) + document(ECKey("1")), 200, "at most 262144 are allowed"),
            (document(*[{"kty": "x"}] * 10_000), 200, "at most 64 are allowed"),
            (document(ECKey("1"), ECKey("1")), 200, "same name (kid)"),
        ]:  # fmt: skip
            self.source.set_response(body, status=status)
            code, output, errors = run("serve", "--port", "0", *self.options)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(f"Error: the key set at {self.source.url} ", errors)
            self.assertIn(reason, errors)

    def test_incomplete_settings_are_rejected(self):
        for arguments, reason in [
            (["--token-jwks", self.source.url], "add --token-issuer"),
            (["--token-issuer", ISSUER], "--token-issuer has no effect without keys"),
            (["--token-jwks", "http://example.org/", "--token-issuer", ISSUER], "must begin with https://"),
        ]:
            code, output, errors = run("serve", "--port", "0", *arguments)
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)

    def test_token_show_verifies_with_keys_of_the_provider(self):
        key = ECKey("1")
        self.source.set_response(document(key))
        options = ["--jwks", self.source.url, "--issuer", ISSUER, "--audience", "shop"]
        code, output, _ = run("token", "show", *options, key.token())
        self.assertEqual((0, True), (code, json.loads(output)["valid"]))
        # The claim "groups" of this token is no array.
        other = key.token(groups="staff")
        self.assertFalse(json.loads(run("token", "show", *options, other)[1])["valid"])
        code, output, _ = run("token", "show", *options, "--groups-claim", "realm_access.roles", other)
        self.assertEqual((0, True), (code, json.loads(output)["valid"]))
        code, output, _ = run("token", "show", *options, ECKey("1").token())
        self.assertEqual((1, False), (code, json.loads(output)["valid"]))
        self.assertEqual(64, run("token", "show", "--jwks", self.source.url, key.token())[0])


if __name__ == "__main__":
    unittest.main()
