"""Sources of the route table of `waybridge serve` while it runs: a watched file, a URL."""

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

    def until(self, expected, read):
        """Repeats a call until the result is the expected one: a watched file is checked from time to time."""
        limit = threading.Event()
        timer = threading.Timer(30, limit.set)
        timer.start()
        self.addCleanup(timer.cancel)
        while (found := read()) != expected:
            self.assertFalse(limit.is_set(), f"it stays {found!r}, not {expected!r}")


class FileTest(TableTest):
    def test_table_file_is_reloaded_after_any_change(self):
        path = self.write("routes.json", table("1", "a"))
        server = self.serve(path)
        self.assertEqual("1", self.version(server))
        self.write("routes.json", table("2", "a", "b"))
        self.until("2", lambda: self.version(server))
        os.replace(self.write("next.json", table("3", "c")), path)
        self.until("3", lambda: self.version(server))
        # Like Kubernetes, which swaps the folder of a volume.
        self.write("linked.json", table("4", "d"))
        os.symlink("linked.json", self.folder / "link")
        os.replace(self.folder / "link", path)
        self.until("4", lambda: self.version(server))
        self.assertEqual(["d"], [route["name"] for route in self.call(server, "router.routes")])

    def test_invalid_file_keeps_current_table(self):
        path = self.write("routes.json", table("5", "a"))
        server = self.serve(path)
        bad = [
            (table("6", "b")[:-9], "not JSON"),
            (b'{"version": 6, "routes": {}}', "$.version: has to be a string"),
            (table("4", "b"), r'is lower than \"5\"'),
            (b" " * (16 << 20) + b"x", "is longer than 16777216 bytes"),
            (table("6", "b", "b"), "names must be unique"),
        ]
        for count, (content, _) in enumerate(bad, 1):
            self.write("routes.json", content)
            self.until(count, lambda: self.metric(server, "waybridge_table_refusals_total"))
            self.assertEqual("5", self.version(server))
        self.write("routes.json", table("6", "b"))
        self.until("6", lambda: self.version(server))
        _, _, errors = server.end(15)
        refusals = [line for line in errors.splitlines() if "table rejected; the current table stays in force" in line]
        self.assertEqual(len(bad), len(refusals), errors)
        for (_, reason), line in zip(bad, refusals):
            self.assertIn(reason, line)

    def test_invalid_table_at_start_reports_all_faults(self):
        path = self.write("routes.json", b'{"version": 1, "routes": [{"name": "x", "kind": "pag"}]}')
        code, output, errors = run("serve", "--table", path, "--port", "0")
        self.assertEqual((1, ""), (code, output))
        for fault in ["$.version: has to be a string", "$.routes[0]: a route needs \"pattern\"", "did you mean \"page\"?"]:
            self.assertIn(fault, errors)


class FetchTest(TableTest):
    def setUp(self):
        super().setUp()
        self.source = TableSource()
        self.source.__enter__()
        self.addCleanup(self.source.__exit__)

    def test_table_is_fetched_again_by_etag(self):
        self.source.set_response(table("1", "a"), etag='"one"')
        server = self.serve(self.source.url)
        self.assertEqual("1", self.version(server))
        self.source.await_requests(3)
        self.assertEqual([None, '"one"', '"one"'], self.source.etags[:3])
        self.source.set_response(table("2", "b"), etag='"two"')
        self.until("2", lambda: self.version(server))
        self.assertEqual(1, self.metric(server, 'waybridge_table_changes_total{cause="fetch"}'))

    def test_last_valid_table_is_cached_by_url(self):
        self.source.set_response(table("7", "a"), etag='"x"')
        server = self.serve(self.source.url)
        server.end(15)
        (kept,) = (self.folder / "cache").iterdir()
        self.assertEqual(0o600, stat.S_IMODE(kept.stat().st_mode))
        self.assertEqual(self.source.url, json.loads(kept.read_text())["url"])
        self.source.respond = lambda handler: handler.send_error(503)
        again = self.serve(self.source.url)
        self.assertEqual("7", self.version(again))
        self.source.set_response(table("8", "b"))
        self.until("8", lambda: self.version(again))
        _, _, errors = again.end(15)
        self.assertIn("table not fetched; the last valid one is used", errors)
        self.assertIn("answered 503", errors)
        # Another URL is another table.
        self.source.respond = lambda handler: handler.send_error(503)
        code, output, errors = run(
            "serve", "--table", self.source.url.replace("%20", "%21"), "--port", "0", "--table-cache", str(self.folder / "cache")
        )
        self.assertEqual((1, ""), (code, output))
        self.assertIn("answered 503", errors)

    def test_invalid_response_keeps_current_table(self):
        self.source.set_response(table("5", "a"), etag='"good"')
        server = self.serve(self.source.url)

        def unexpected(handler):
            handler.send_response(304)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        def truncated(handler):
            body = table("6", "b")
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body[:20])
            handler.close_connection = True

        def insecure(handler):
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

        for respond in [truncated, insecure, endless, large]:
            self.source.respond = respond
            self.source.await_requests(len(self.source.etags) + 2)
            self.assertEqual("5", self.version(server))
        # An endless response is not read beyond the largest table.
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        (peak,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
        self.assertLess(peak, 300 << 10)
        # The earlier name with another table; the content of the table matters.
        body = table("6", "b")

        def reusing_etag(handler):
            handler.send_response(200)
            handler.send_header("ETag", '"good"')
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.source.respond = reusing_etag
        self.until("6", lambda: self.version(server))
        self.source.set_response(table("4", "c"), etag='"back"')
        self.until(1, lambda: self.metric(server, "waybridge_table_refusals_total"))
        self.source.set_response(b"<html>", etag='"html"')
        self.until(2, lambda: self.metric(server, "waybridge_table_refusals_total"))
        self.assertEqual("6", self.version(server))

        def silent(handler):
            threading.Event().wait(60)
            handler.close_connection = True

        # A server that ends does not wait for a response.
        self.source.respond = silent
        self.source.await_requests(len(self.source.etags) + 1)
        _, _, errors = server.end(15)
        self.assertNotIn("did not answer", errors)
        for reason in [
            "redirects to an unprotected URL", "has more than 16777216 bytes", "has 52428800 bytes", r'is lower than \"6\"', "is not JSON",
        ]:  # fmt: skip
            self.assertIn(reason, errors)

    def test_redirects_are_followed_up_to_a_limit(self):
        def moved(handler):
            handler.send_response(307)
            handler.send_header("Location", "../there.json" if "app" in handler.path else handler.path)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        def once(handler):
            self.source.set_response(table("3", "a"))
            moved(handler)

        self.source.respond = once
        server = self.serve(self.source.url)
        self.assertEqual("3", self.version(server))
        self.source.respond = moved
        code, output, errors = run("serve", "--table", self.source.url, "--port", "0", "--table-cache", str(self.folder / "none"))
        self.assertEqual((1, ""), (code, output))
        self.assertIn("it redirects more than 5 times", errors)

    def test_start_without_table_reports_source_error(self):
        def forever(handler):
            handler.send_response(200)
            handler.end_headers()
            threading.Event().wait(25)
            handler.close_connection = True

        for respond, reason in [
            (lambda handler: handler.send_error(404), "the server answered 404"), (forever, "did not answer within 10 s"),
        ]:  # fmt: skip
            self.source.respond = respond
            code, output, errors = run(
                "serve", "--table", self.source.url, "--port", "0", "--table-cache", str(self.folder / "none")
            )
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)
        for address, reason in [
            ("http://example.org/routes.json", "must begin with https://"), ("https://", "is not a URL"),
            ("https://user:secret@example.org/", "is not a URL without user"),
        ]:  # fmt: skip
            code, output, errors = run("serve", "--table", address, "--port", "0")
            self.assertEqual((1, ""), (code, output))
            self.assertIn(reason, errors)

    def test_untrusted_tls_certificate_is_rejected(self):
        key, certificate = str(self.folder / "key.pem"), str(self.folder / "certificate.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
             "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            check=True, capture_output=True,
        )  # fmt: skip
        with TableSource((certificate, key)) as source:
            source.set_response(table("1", "a"))
            code, output, errors = run(
                "serve", "--table", source.url, "--port", "0", "--table-cache", str(self.folder / "tls")
            )
            self.assertEqual((1, ""), (code, output))
            self.assertIn("certificate", errors)
            trusting = self.serve(source.url, SSL_CERT_FILE=certificate)
            self.assertEqual("1", self.version(trusting))


if __name__ == "__main__":
    unittest.main()
