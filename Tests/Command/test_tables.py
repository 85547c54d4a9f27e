"""Where `waybridge serve` has its route table from while it runs: a file that is followed, an address."""

import json
import os
import pathlib
import stat
import subprocess
import tempfile
import threading
import unittest
import urllib.request

from command import Server, run
from table_source import TableSource

ADMIN = {"rules": [{"name": "all", "allow": ["*"]}]}


def table(version, *names):
    """A document whose routes are tasks."""
    routes = [{"name": name, "pattern": f"action://{name}", "kind": "task"} for name in names]
    return json.dumps({"version": version, "routes": routes}).encode()


class TableTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.policy = self.write("policy.json", json.dumps(ADMIN).encode())

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def serve(self, source, *arguments, **variables):
        server = Server(
            "serve", "--table", source, "--policy", self.policy, "--port", "0", "--table-cache", str(self.folder / "cache"),
            "--table-interval", "1", *arguments, **variables,
        )  # fmt: skip
        self.addCleanup(server.__exit__)
        return server.__enter__()

    def call(self, server, method, params=None):
        code, output, errors = run("call", method, json.dumps(params or {}), "--url", server.url)
        self.assertEqual(0, code, errors)
        return json.loads(output)

    def version(self, server):
        return self.call(server, "table.get")["version"]

    def metric(self, server, name):
        text = urllib.request.urlopen(f"{server.address}/metrics", timeout=10).read().decode()
        return [int(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " ")][0]

    def until(self, expected, ask):
        """Asks until the answer is the expected one: what is watched is looked at from time to time."""
        limit = threading.Event()
        timer = threading.Timer(30, limit.set)
        timer.start()
        self.addCleanup(timer.cancel)
        while (found := ask()) != expected:
            self.assertFalse(limit.is_set(), f"it stays {found!r}, not {expected!r}")


class FileTest(TableTest):
    def test_a_file_is_followed_when_it_is_written_renamed_over_and_linked_to(self):
        path = self.write("routes.json", table("1", "a"))
        server = self.serve(path)
        self.assertEqual("1", self.version(server))
        self.write("routes.json", table("2", "a", "b"))
        self.until("2", lambda: self.version(server))
        os.replace(self.write("next.json", table("3", "c")), path)
        self.until("3", lambda: self.version(server))
        # As Kubernetes swaps the folder of a volume.
        self.write("linked.json", table("4", "d"))
        os.symlink("linked.json", self.folder / "link")
        os.replace(self.folder / "link", path)
        self.until("4", lambda: self.version(server))
        self.assertEqual(["d"], [route["name"] for route in self.call(server, "router.routes")])

    def test_what_is_wrong_is_refused_and_the_table_in_force_stays(self):
        path = self.write("routes.json", table("5", "a"))
        server = self.serve(path)
        bad = [
            (table("6", "b")[:-9], "not JSON"),
            (b'{"version": 6, "routes": {}}', "$.version: has to be a string"),
            (table("4", "b"), "is before '5'"),
            (b" " * (16 << 20) + b"x", "is longer than 16777216 bytes"),
            (table("6", "b", "b"), "names are unique"),
        ]
        for count, (content, _) in enumerate(bad, 1):
            self.write("routes.json", content)
            self.until(count, lambda: self.metric(server, "waybridge_table_refusals_total"))
            self.assertEqual("5", self.version(server))
        self.write("routes.json", table("6", "b"))
        self.until("6", lambda: self.version(server))
        _, _, errors = server.end(15)
        told = [line for line in errors.splitlines() if "table refused, the one in force stays" in line]
        self.assertEqual(len(bad), len(told), errors)
        for (_, reason), line in zip(bad, told):
            self.assertIn(reason, line)

    def test_a_start_with_a_wrong_table_says_all_that_is_wrong(self):
        path = self.write("routes.json", b'{"version": 1, "routes": [{"name": "x", "kind": "pag"}]}')
        code, output, errors = run("serve", "--table", path, "--port", "0")
        self.assertEqual((1, ""), (code, output))
        for fault in ["$.version: has to be a string", "$.routes[0]: a route has 'pattern'", "did you mean 'page'?"]:
            self.assertIn(fault, errors)


class FetchTest(TableTest):
    def setUp(self):
        super().setUp()
        self.source = TableSource()
        self.source.__enter__()
        self.addCleanup(self.source.__exit__)

    def test_a_table_is_fetched_asked_for_again_by_its_etag_and_taken_when_it_is_another(self):
        self.source.serves(table("1", "a"), etag='"one"')
        server = self.serve(self.source.url)
        self.assertEqual("1", self.version(server))
        self.source.await_requests(3)
        self.assertEqual([None, '"one"', '"one"'], self.source.asked[:3])
        self.source.serves(table("2", "b"), etag='"two"')
        self.until("2", lambda: self.version(server))
        self.assertEqual(1, self.metric(server, 'waybridge_table_changes_total{cause="fetch"}'))

    def test_the_last_good_one_is_kept_under_its_whole_address_for_when_the_source_is_away(self):
        self.source.serves(table("7", "a"), etag='"x"')
        server = self.serve(self.source.url)
        server.end(15)
        (kept,) = (self.folder / "cache").iterdir()
        self.assertEqual(0o600, stat.S_IMODE(kept.stat().st_mode))
        self.assertEqual(self.source.url, json.loads(kept.read_text())["url"])
        self.source.answer = lambda handler: handler.send_error(503)
        again = self.serve(self.source.url)
        self.assertEqual("7", self.version(again))
        self.source.serves(table("8", "b"))
        self.until("8", lambda: self.version(again))
        _, _, errors = again.end(15)
        self.assertIn("table not fetched, the last good one is used", errors)
        self.assertIn("answers 503", errors)
        # Another address is another table.
        self.source.answer = lambda handler: handler.send_error(503)
        code, output, errors = run(
            "serve", "--table", self.source.url.replace("%20", "%21"), "--port", "0", "--table-cache", str(self.folder / "cache")
        )
        self.assertEqual((1, ""), (code, output))
        self.assertIn("answers 503", errors)

    def test_a_source_that_lies_or_breaks_is_told_and_the_table_in_force_stays(self):
        self.source.serves(table("5", "a"), etag='"good"')
        server = self.serve(self.source.url)

        def unasked(handler):
            handler.send_response(304)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        def torn(handler):
            body = table("6", "b")
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body[:20])
            handler.close_connection = True

        def elsewhere(handler):
            handler.send_response(302)
            handler.send_header("Location", "http://example.org/routes.json")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        def endless(handler):
            handler.send_response(200)
            handler.end_headers()
            try:
                while True:
                    handler.wfile.write(b" " * 65536)
            except OSError:
                handler.close_connection = True

        def large(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(50 << 20))
            handler.end_headers()
            handler.close_connection = True

        for answer in [torn, elsewhere, endless, large]:
            self.source.answer = answer
            self.source.await_requests(len(self.source.asked) + 2)
            self.assertEqual("5", self.version(server))
        # What comes without an end is not read further than the largest table.
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        (peak,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
        self.assertLess(peak, 300 << 10)
        # The name that it gave before, with another table; it is the table that counts.
        body = table("6", "b")

        def liar(handler):
            handler.send_response(200)
            handler.send_header("ETag", '"good"')
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.source.answer = liar
        self.until("6", lambda: self.version(server))
        self.source.serves(table("4", "c"), etag='"back"')
        self.until(1, lambda: self.metric(server, "waybridge_table_refusals_total"))
        self.source.serves(b"<html>", etag='"html"')
        self.until(2, lambda: self.metric(server, "waybridge_table_refusals_total"))
        self.assertEqual("6", self.version(server))

        def silent(handler):
            threading.Event().wait(60)
            handler.close_connection = True

        # A server that ends does not wait for an answer.
        self.source.answer = silent
        self.source.await_requests(len(self.source.asked) + 1)
        _, _, errors = server.end(15)
        self.assertNotIn("did not answer", errors)
        for reason in [
            "not protected as well", "has more than 16777216 bytes", "has 52428800 bytes", "is before '6'", "is not JSON",
        ]:  # fmt: skip
            self.assertIn(reason, errors)

    def test_a_source_that_has_moved_is_followed_but_not_for_ever(self):
        def moved(handler):
            handler.send_response(307)
            handler.send_header("Location", "../there.json" if "app" in handler.path else handler.path)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        def once(handler):
            self.source.serves(table("3", "a"))
            moved(handler)

        self.source.answer = once
        server = self.serve(self.source.url)
        self.assertEqual("3", self.version(server))
        self.source.answer = moved
        code, output, errors = run("serve", "--table", self.source.url, "--port", "0", "--table-cache", str(self.folder / "none"))
        self.assertEqual((1, ""), (code, output))
        self.assertIn("it leads on more than 5 times", errors)

    def test_a_start_without_any_table_says_what_the_source_did(self):
        def forever(handler):
            handler.send_response(200)
            handler.end_headers()
            threading.Event().wait(25)
            handler.close_connection = True

        for answer, reason in [
            (lambda handler: handler.send_error(404), "the server answers 404"), (forever, "did not answer within 10 s"),
        ]:  # fmt: skip
            self.source.answer = answer
            code, output, errors = run(
                "serve", "--table", self.source.url, "--port", "0", "--table-cache", str(self.folder / "none")
            )
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)
        for address, reason in [
            ("http://example.org/routes.json", "has to begin with https://"), ("https://", "is no URL"),
            ("https://user:secret@example.org/", "is no URL without user"),
        ]:  # fmt: skip
            code, output, errors = run("serve", "--table", address, "--port", "0")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)

    def test_over_tls_who_is_not_trusted_is_not_believed(self):
        key, certificate = str(self.folder / "key.pem"), str(self.folder / "certificate.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
             "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            check=True, capture_output=True,
        )  # fmt: skip
        with TableSource((certificate, key)) as source:
            source.serves(table("1", "a"))
            code, output, errors = run(
                "serve", "--table", source.url, "--port", "0", "--table-cache", str(self.folder / "tls")
            )
            self.assertEqual((1, ""), (code, output))
            self.assertIn("certificate", errors)
            trusting = self.serve(source.url, SSL_CERT_FILE=certificate)
            self.assertEqual("1", self.version(trusting))


if __name__ == "__main__":
    unittest.main()
