"""`waybridge serve --cluster` with the access control of NATS: certificates, credentials, a user with least permissions; and the secret of a cluster."""

import base64
import hashlib
import hmac
import json
import pathlib
import re
import signal
import socket
import subprocess
import unittest

from cluster_client import secret_file
from command import Server, run
from rawsocket import WebSocket
from test_cluster import ClusterCase, echo, guide_configuration, health, metrics, until


def openssl(*arguments, **more):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, **more).stdout


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = pathlib.Path(folder), name
        self.file = self.folder / f"{name}.pem"
        openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", self.folder / f"{name}.key", "-out", self.file, "-subj", f"/CN={name}", "-days", "2")

    def issue(self, name, alternative):
        """Returns the files of a certificate and its key."""
        key, request, certificate = (self.folder / f"{name}.{kind}" for kind in ("key", "csr", "pem"))
        openssl("req", "-newkey", "ed25519", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}", "-addext", f"subjectAltName={alternative}")
        openssl(
            "x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.folder / f"{self.name}.key", "-CAcreateserial", "-days", "2",
            "-copy_extensions", "copyall", "-out", certificate)
        key.chmod(0o600)
        return certificate, key


class NATSAccess(ClusterCase):
    """The NATS server of each test has a configuration of its own."""

    def setUp(self):
        super().setUp()
        self.nats.end()

    def begin_with(self, configuration):
        file = pathlib.Path(self.folder, "nats.conf")
        file.write_text(configuration)
        self.nats = self.begin("-c", str(file))

    def refusal(self, *arguments):
        code, output, errors = run("serve", "--port", "0", *map(str, arguments))
        self.assertEqual((1, ""), (code, output))
        return errors

    def works(self, *arguments):
        """A call with a key needs writes to the stream; a second server needs everything else."""
        servers = [self.serve(*map(str, arguments)) for _ in range(2)]
        until(lambda: all(metrics(server)["waybridge_cluster_servers"] == 2 for server in servers))
        first = self.client(servers[0])
        second = self.client(servers[1], join=first)
        self.assertEqual({"n": 1}, second.call("router.invoke", echo(1, key="k"))["result"])
        servers[0].end(9)
        resumed = until(lambda: first.resume(servers[1]))
        self.assertTrue(resumed["resumed"])
        self.assertEqual({"n": 1}, first.call("router.invoke", echo(1, key="k"))["result"])


class TLS(NATSAccess):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder, "authority")

    def begin_tls(self, alternative="IP:127.0.0.1", more=""):
        certificate, key = self.authority.issue("nats", alternative)
        self.begin_with(f'jetstream {{}}\ntls {{ cert_file: "{certificate}", key_file: "{key}", {more} }}')
        self.nats.url = self.nats.url.replace("nats:", "tls:")

    def test_authority_of_a_file_is_trusted(self):
        self.begin_tls()
        self.works("--cluster-ca", self.authority.file)

    def test_other_authorities_and_hosts_are_rejected(self):
        self.begin_tls(alternative="DNS:nats.example")
        other = Authority(self.folder, "other")
        for file in (self.authority.file, other.file):
            with self.subTest(file.name):
                errors = self.refusal("--cluster", self.nats.url, "--cluster-ca", file)
                self.assertIn("the connection failed: SSL Error", errors)
                self.assertIn("whose host is in the certificate", errors)
        self.assertIn("SSL Error", self.refusal("--cluster", self.nats.url))

    def test_server_shows_its_certificate(self):
        self.begin_tls(more=f'ca_file: "{self.authority.file}", verify: true')
        certificate, key = self.authority.issue("server", "DNS:server.example")
        ca = "--cluster-ca", self.authority.file
        self.assertIn("the connection failed", self.refusal("--cluster", self.nats.url, *ca))
        self.works(*ca, "--cluster-certificate", certificate, "--cluster-key", key)

    def test_invalid_files_are_rejected(self):
        certificate, key = self.authority.issue("server", "DNS:server.example")
        _, other = self.authority.issue("other", "DNS:other.example")
        pathlib.Path(self.folder, "text").write_text("no certificate")
        text = pathlib.Path(self.folder, "text")
        tls = "--cluster", "tls://127.0.0.1:1"
        self.assertIn("the CA file holds no valid certificates", self.refusal(*tls, "--cluster-ca", text))
        self.assertIn("No such file", self.refusal(*tls, "--cluster-ca", f"{text}.missing"))
        both = "--cluster-certificate", certificate, "--cluster-key"
        self.assertIn("do not belong together", self.refusal(*tls, *both, other))
        self.assertIn("use both files", self.refusal(*tls, *both[:2]))
        self.assertIn("use both files", self.refusal(*tls, "--cluster-key", key))
        self.assertIn("use a tls:// address", self.refusal("--cluster", "nats://127.0.0.1:1", "--cluster-ca", self.authority.file))
        key.chmod(0o640)
        self.assertIn(f"the key file {key} can be accessed by other users", self.refusal(*tls, *both, key))


class Listener:
    """Another program in the NATS account: it receives all messages, and can send any."""

    def __init__(self, nats):
        self._socket = socket.create_connection(("127.0.0.1", nats.port))
        self._received = b""
        self._socket.sendall(b'CONNECT {"verbose":false}\r\nSUB > 1\r\n')
        self.settle()

    def settle(self):
        """Receives everything that NATS has sent before it responds."""
        known = len(self._received)
        self._socket.sendall(b"PING\r\n")
        while b"PONG\r\n" not in self._received[known:]:
            self._received += self._socket.recv(1 << 16)

    @property
    def received(self):
        self.settle()
        return self._received

    def messages(self, subject):
        """The contents of the messages on a subject."""
        found = []
        for match in re.finditer(rb"MSG " + re.escape(subject.encode()) + rb" 1 (\d+)\r\n", self.received):
            found.append(self._received[match.end():match.end() + int(match[1])])
        return found

    def publish(self, subject, content):
        self._socket.sendall(f"PUB {subject} {len(content)}\r\n".encode() + content + b"\r\n")
        self.settle()

    def close(self):
        self._socket.close()


class Secret(ClusterCase):
    """The secret of the cluster."""

    def listen(self):
        listener = Listener(self.nats)
        self.addCleanup(listener.close)
        return listener

    def rejections(self, server):
        return metrics(server)["waybridge_cluster_rejected_messages_total"]

    def test_tokens_and_policies_require_a_secret(self):
        tokens = secret_file(self.folder, name="tokens")
        for more in (["--policy", str(self.policy)], ["--token-secret-file", tokens], ["--token-secret-file", tokens, "--allow-anonymous"]):
            with self.subTest(more):
                code, _, errors = run("serve", "--port", "0", "--cluster", self.nats.url, *more)
                self.assertEqual(1, code)
                self.assertIn("needs a secret that protects messages between servers", errors)
                self.assertIn("--cluster-secret-file", errors)

    def test_cluster_without_secret_is_warned_of(self):
        with Server("serve", "--port", "0", "--cluster", self.nats.url) as server:
            _, _, errors = server.end(signal.SIGTERM)
        self.assertIn("messages between the servers of the cluster are not protected", errors)

    def test_invalid_files_are_rejected(self):
        for content, mode, reason in (("x" * 40, 0o640, "can be accessed by other users"), ("short", 0o600, "has a secret of 5 bytes")):
            file = pathlib.Path(secret_file(self.folder, content, name="invalid"))
            file.chmod(mode)
            code, _, errors = run("serve", "--port", "0", "--cluster", self.nats.url, "--cluster-secret-file", str(file))
            self.assertEqual(1, code)
            self.assertIn(f"the secret file {file} {reason}", errors)

    def test_messages_between_servers_are_not_readable(self):
        one, other = self.serve_cluster(2)
        listener = self.listen()
        first = self.client(one)
        second = self.client(other, join=first)
        second.call("router.invoke", {"uri": "action://echo", "params": {"text": "this is private"}})
        relayed = b"".join(listener.messages(f"waybridge.server.to.{first.owner}"))
        self.assertGreater(len(relayed), 500)
        self.assertNotIn(b"private", relayed)
        self.assertNotIn(first.hello["session"].encode(), relayed)

    def test_stored_sessions_are_not_readable(self):
        server = self.serve()
        listener = self.listen()
        first = self.client(server)
        first.call("router.invoke", {"uri": "action://echo", "params": {"text": "this is private"}, "key": "k"})
        stored = until(lambda: re.findall(rb"MSG waybridge\.session\.\S+ 1 \S+ (\d+)\r\n", listener.received))
        self.assertGreater(sum(map(int, stored)), 500)
        for secret in (b"private", first.hello["joinToken"].encode(), first.hello["token"].encode()):
            self.assertNotIn(secret, listener.received)

    def test_forged_and_repeated_messages_are_rejected_and_counted(self):
        one, other = self.serve_cluster(2)
        names = [self.client(server).owner.encode() for server in (one, other)]
        listener = self.listen()
        # A message of each server, which the other one has received already.
        last = [until(lambda: [text for text in listener.messages("waybridge.server.all") if name in text])[0] for name in names]
        self.assertEqual(0, self.rejections(one))
        for message in last:
            listener.publish("waybridge.server.all", message)
        until(lambda: self.rejections(one) == 1 and self.rejections(other) == 1)
        before = 1
        changed = last[0][:-1] + bytes([last[0][-1] ^ 1])
        for message in (b"", b"\x01", b"{}", changed, b"\xa1" * 100):
            listener.publish("waybridge.server.all", message)
        until(lambda: self.rejections(one) == before + 5)
        # Nothing else has changed.
        first = self.client(one)
        self.assertEqual({"n": 1}, self.client(other, join=first).call("router.invoke", echo(1))["result"])
        self.assertEqual(2, metrics(one)["waybridge_cluster_servers"])
        _, _, errors = one.end(signal.SIGTERM)
        self.assertIn("message of another server rejected", errors)

    def test_messages_from_before_the_start_are_ignored(self):
        earlier = self.serve()
        name = self.client(earlier).owner
        listener = self.listen()
        presence = until(lambda: listener.messages("waybridge.server.all"))[-1]
        earlier.end(signal.SIGKILL)
        server = self.serve()
        before = len(listener.messages(f"waybridge.server.to.{name}"))
        listener.publish("waybridge.server.all", presence)
        # The server asks the sender for a message to it alone. There is no response.
        until(lambda: len(listener.messages(f"waybridge.server.to.{name}")) > before)
        self.assertEqual(1, metrics(server)["waybridge_cluster_servers"])
        self.assertEqual(0, self.rejections(server))

    def test_server_with_the_connection_verifies_tokens(self):
        tokens = secret_file(self.folder, name="tokens")

        def token(user):
            code, output, errors = run("token", "make", "--secret-file", tokens, "--subject", user, "--expires", "1h")
            self.assertEqual((0, ""), (code, errors))
            return output.strip()

        servers = [self.serve("--token-secret-file", tokens) for _ in range(2)]
        until(lambda: all(metrics(server)["waybridge_cluster_servers"] == 2 for server in servers))
        first = self.client(servers[0], token=token("ada"))
        second = self.client(servers[1], join=first, token=token("ben"))
        self.assertEqual(first.owner, second.owner)
        renewed = second.call("session.renew", {"token": token("ben")})
        self.assertIn("expiresAt", renewed["result"])
        self.assertEqual(2403, second.call("session.renew", {"token": token("ada")})["error"]["code"])
        self.assertEqual(2401, second.call("session.renew", {"token": "forged"})["error"]["code"])
        with self.assertRaisesRegex(RuntimeError, "2401"):
            self.client(servers[1], join=first, token="forged")
        self.assertTrue(first.resume(servers[1])["resumed"])
        self.assertEqual({"n": 1}, first.call("router.invoke", echo(1))["result"])

    def test_secret_is_replaced_while_servers_run(self):
        old, new = "the old secret of the cluster, 32 bytes", "the new secret of the cluster, 32 bytes"
        files = [secret_file(self.folder, *lines, name=f"secret{place}") for place, lines in enumerate([[old], [old, new], [new, old], [new]])]
        servers = [self.serve("--cluster-secret-file", files[0]) for _ in range(2)]
        session = self.client(servers[0])
        for file in files[1:]:
            for place in range(2):
                added = self.serve("--cluster-secret-file", file)
                until(lambda: metrics(added)["waybridge_cluster_servers"] == 3)
                self.assertEqual({"n": 1}, self.client(added, join=session).call("router.invoke", echo(1))["result"])
                session.servers = [added]
                ended, servers[place] = servers[place], added
                self.assertEqual(0, self.rejections(ended))
                ended.end(signal.SIGTERM)
                self.assertEqual({"n": 2}, session.call("router.invoke", echo(2))["result"])


    @staticmethod
    def names(*secrets):
        """The names of secrets in metrics."""
        return ",".join(hmac.new(secret.encode(), b"waybridge cluster secret", "sha256").hexdigest()[:8] for secret in secrets)

    def reload(self, server, file, *lines):
        """Makes a server read another content of its file."""
        secret_file(file.parent, *lines, name=file.name)
        server.process.send_signal(signal.SIGHUP)

    def test_secret_is_replaced_by_sighup(self):
        old, new = "the old secret of the cluster, 32 bytes", "the new secret of the cluster, 32 bytes"
        files = [pathlib.Path(secret_file(self.folder, old, name=f"secret{place}")) for place in range(2)]
        servers = [self.serve("--cluster-secret-file", str(file)) for file in files]
        until(lambda: all(metrics(server)["waybridge_cluster_servers"] == 2 for server in servers))
        session = self.client(servers[0])
        session.call("router.invoke", echo(1, key="k"))
        other = self.client(servers[1], join=session)
        for lines in ([old, new], [new, old], [new]):
            for server, file in zip(servers, files):
                self.reload(server, file, *lines)
                until(lambda: f'waybridge_cluster_secrets_info{{hash="{self.names(*lines)}"}}' in metrics(server))
                self.assertEqual({"n": 2}, other.call("router.invoke", echo(2))["result"])
        for server in servers:
            self.assertEqual(0, self.rejections(server))
            self.assertEqual(0, metrics(server)["waybridge_cluster_secret_refusals_total"])
        # The stored session can be read without the old secret.
        servers[0].end(signal.SIGKILL)
        self.assertTrue(until(lambda: session.resume(servers[1]))["resumed"])
        self.assertEqual({"n": 1}, session.call("router.invoke", echo(1, key="k"))["result"])

    def test_secret_that_another_server_does_not_have_is_rejected_by_sighup(self):
        old, new = "the old secret of the cluster, 32 bytes", "the new secret of the cluster, 32 bytes"
        files = [pathlib.Path(secret_file(self.folder, old, name=f"secret{place}")) for place in range(2)]
        servers = [self.serve("--cluster-secret-file", str(file)) for file in files]
        until(lambda: all(metrics(server)["waybridge_cluster_servers"] == 2 for server in servers))
        for count, (lines, reason) in enumerate([(["short"], "has a secret of 5 bytes"), ([new], "lacks the secret"), ([new, old], "has the cluster secret")]):
            self.reload(servers[0], files[0], *lines)
            until(lambda: metrics(servers[0])["waybridge_cluster_secret_refusals_total"] == count + 1)
            self.assertIn(f'waybridge_cluster_secrets_info{{hash="{self.names(old)}"}}', metrics(servers[0]))
            while "not changed" not in (line := servers[0].error_line()):
                pass
            self.assertIn(reason, line)
        session = self.client(servers[0])
        self.assertEqual({"n": 1}, self.client(servers[1], join=session).call("router.invoke", echo(1))["result"])
        self.assertEqual(0, metrics(servers[0])["waybridge_cluster_secret_comparison_failures_total"])

    def test_secrets_that_cannot_be_compared_are_not_rejected(self):
        old, new = "the old secret of the cluster, 32 bytes", "the new secret of the cluster, 32 bytes"
        file = pathlib.Path(secret_file(self.folder, old, name="secret0"))
        server = self.serve("--cluster-secret-file", str(file))
        self.nats.end()
        self.reload(server, file, old, new)
        until(lambda: metrics(server)["waybridge_cluster_secret_comparison_failures_total"] == 1)
        while "not changed" not in (line := server.error_line()):
            pass
        self.assertRegex(line, "they could not be compared with those of other servers .*reason=.*cannot be used")
        self.assertIn(f'waybridge_cluster_secrets_info{{hash="{self.names(old)}"}}', metrics(server))
        self.begin("-js", port=self.nats.port)
        until(lambda: health(server)["status"] == "ok")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: f'waybridge_cluster_secrets_info{{hash="{self.names(old, new)}"}}' in metrics(server))
        self.assertEqual(0, metrics(server)["waybridge_cluster_secret_refusals_total"])


class Borders(ClusterCase):
    """Servers that must not share sessions."""

    def refusal(self, *more):
        code, output, errors = run("serve", "--port", "0", "--cluster", self.nats.url, *map(str, more))
        self.assertEqual((1, ""), (code, output))
        return errors

    def test_anonymous_server_does_not_join_one_with_tokens(self):
        tokens = secret_file(self.folder, name="tokens")
        secret = "--cluster-secret-file", self.secret
        server = self.serve("--token-secret-file", tokens)
        name = self.client(server, token=run("token", "make", "--secret-file", tokens, "--subject", "ada")[1].strip()).owner
        errors = self.refusal(*secret)
        self.assertRegex(errors, f"the server {name} on .* requires tokens of clients, but this one authenticates no clients; use the same settings")
        self.assertIn("accepts clients without a token", self.refusal(*secret, "--token-secret-file", tokens, "--allow-anonymous"))
        self.assertEqual(1, metrics(server)["waybridge_cluster_servers"])
        # Another cluster on the same NATS server may differ.
        other = self.serve("--cluster-name", "other")
        self.assertEqual(1, metrics(other)["waybridge_cluster_servers"])

    def test_server_with_another_secret_does_not_join(self):
        self.serve()
        other = secret_file(self.folder, "another secret of a cluster, 32 bytes", name="other")
        self.assertRegex(self.refusal("--cluster-secret-file", other), "has the cluster secret [0-9a-f]{8}, but this one has the cluster secret [0-9a-f]{8}")
        self.assertIn("but this one has no cluster secret", self.refusal())

    def test_server_without_policy_does_not_join_one_with_a_policy(self):
        server = self.serve()
        errors = self.refusal("--cluster-secret-file", self.secret)
        self.assertRegex(errors, "the server .* on .* has a policy, but this one has none; start all servers of a cluster with a policy")
        self.assertEqual(1, metrics(server)["waybridge_cluster_servers"])

    def test_killed_server_does_not_keep_others_out(self):
        server = self.serve()
        server.end(signal.SIGKILL)
        other = secret_file(self.folder, "another secret of a cluster, 32 bytes", name="other")
        self.serve("--cluster-secret-file", other)

    def test_server_that_returns_with_other_settings_stops_serving(self):
        tokens = "--token-secret-file", secret_file(self.folder, name="tokens"), "--allow-anonymous"
        # Without a session, no server declares the suspended one down: it still has its lease.
        for has_session in (False, True):
            with self.subTest(has_session=has_session):
                returning = self.serve("--cluster-name", f"returning{has_session}")
                if has_session:
                    self.client(returning)
                returning.process.send_signal(signal.SIGSTOP)
                other = self.serve("--cluster-name", f"returning{has_session}", *tokens)
                third = self.serve("--cluster-name", f"returning{has_session}", *tokens)
                returning.process.send_signal(signal.SIGCONT)
                until(lambda: metrics(returning)["waybridge_cluster_conflict"] == 1)
                found = health(returning)
                self.assertEqual(("unavailable", {"engine": "reached"}), (found["status"], found["cluster"]))
                self.assertIn("the settings of this server differ from those of its cluster; connections are rejected; start it with", found["reason"])
                self.assertEqual(1, metrics(returning)["waybridge_cluster_engine_reached"])
                with WebSocket(returning.port, subprotocol="waybridge.v1") as messages:
                    messages.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"]}})
                    refusal = messages.receive()["error"]
                self.assertEqual(2503, refusal["code"])
                self.assertIn("the settings of this server differ", refusal["message"])
                while "settings differ" not in (line := returning.error_line()):
                    pass
                self.assertIn("critical", line)
                self.assertRegex(line, "accepts clients without a token, but this one authenticates no clients; use the same settings")
                for server in (other, third):
                    until(lambda: metrics(server)["waybridge_cluster_servers"] == 2)
                    self.assertEqual(0, metrics(server)["waybridge_cluster_conflict"])
                    self.assertEqual("ok", health(server)["status"])
                # It serves again when no other server contradicts.
                other.end(signal.SIGTERM)
                third.end(signal.SIGTERM)
                until(lambda: metrics(returning)["waybridge_cluster_conflict"] == 0)
                until(lambda: health(returning)["status"] == "ok")

    def test_different_policy_joins_and_is_counted(self):
        one = self.serve()
        other = pathlib.Path(self.folder, "other.json")
        other.write_text(json.dumps({"rules": [{"name": "others", "allow": ["*"], "server": True}]}))
        two = self.serve("--policy", str(other))
        for server in (one, two):
            until(lambda: metrics(server)['waybridge_cluster_differing_servers{kind="policy"}'] == 1)
            self.assertEqual(0, metrics(server)['waybridge_cluster_differing_servers{kind="keys"}'])


class NKey:
    """A key of NATS, on Ed25519."""

    KINDS = {"O": 14 << 3, "A": 0, "U": 20 << 3}

    def __init__(self, folder, kind, name=""):
        self.kind = self.KINDS[kind]
        self.file = pathlib.Path(folder, f"nkey-{kind}{name}.pem")
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        public = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        private = openssl("pkey", "-in", self.file, "-outform", "DER")[-32:]
        self.public = self.encode(bytes([self.kind]) + public)
        self.seed = self.encode(bytes([(18 << 3) | (self.kind >> 5), (self.kind & 31) << 3]) + private)

    @staticmethod
    def encode(data):
        crc = 0
        for byte in data:
            crc ^= byte << 8
            for _ in range(8):
                crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
        return base64.b32encode(data + crc.to_bytes(2, "little")).decode().rstrip("=")

    def token(self, subject, claims):
        """A JWT about another key, signed with this one."""
        def part(value):
            return base64.urlsafe_b64encode(value).decode().rstrip("=")
        body = {"iat": 1, "iss": self.public, "sub": subject, "name": "test", "nats": {"version": 2} | claims}
        body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode().rstrip("=")
        signed = part(b'{"typ":"JWT","alg":"ed25519-nkey"}') + "." + part(json.dumps(body).encode())
        content = self.file.with_suffix(".txt")
        content.write_text(signed)
        return signed + "." + part(openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", content))


class Credentials(NATSAccess):
    def test_credentials_file_authenticates_to_nats(self):
        operator, account, user = (NKey(self.folder, kind) for kind in "OAU")
        system = NKey(self.folder, "A", "system")
        limits = {name: -1 for name in ("subs", "data", "payload", "imports", "exports", "conn", "leaf")} | {"wildcards": True}
        jetstream = {name: -1 for name in ("mem_storage", "disk_storage", "streams", "consumer")}
        trusted = operator.token(operator.public, {"type": "operator"})
        accounts = operator.token(account.public, {"type": "account", "limits": limits | jetstream})
        systems = operator.token(system.public, {"type": "account", "limits": limits})
        token = account.token(user.public, {"type": "user", "subs": -1, "data": -1, "payload": -1})
        self.begin_with(
            f"jetstream {{}}\noperator: {trusted}\nsystem_account: {system.public}\nresolver: MEMORY\n"
            f"resolver_preload: {{ {account.public}: {accounts}, {system.public}: {systems} }}")
        file = pathlib.Path(self.folder, "user.creds")
        file.write_text(f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")
        file.chmod(0o644)
        cluster = "--cluster", self.nats.url
        self.assertIn(f"the credentials file {file} can be accessed by other users", self.refusal(*cluster, "--cluster-credentials", file))
        file.chmod(0o600)
        with_user = self.nats.url.replace("//", "//ada:secret@")
        self.assertIn("both a user and a credentials file", self.refusal("--cluster", with_user, "--cluster-credentials", file))
        self.assertIn("a credentials file", self.refusal(*cluster))
        self.works("--cluster-credentials", file)


class Permissions(NATSAccess):
    """The account of the guide."""

    def test_permissions_of_the_guide_are_sufficient_and_needed(self):
        self.begin_with(guide_configuration())
        self.nats.url = self.nats.url.replace("//", "//waybridge:secret@")
        self.works()
        # The same user may not use the names of another cluster.
        errors = self.refusal("--cluster", self.nats.url, "--cluster-name", "other")
        self.assertIn("the bucket other-servers cannot be read", errors)
        self.nats.process.kill()
        violations = re.findall(r"Violation.*Subject \"(.*?)\"", self.nats.process.stderr.read())
        self.assertIn("$JS.API.STREAM.INFO.KV_other-servers", violations)
        self.assertEqual([], [subject for subject in violations if "other" not in subject])


del ClusterCase, NATSAccess

if __name__ == "__main__":
    unittest.main()
