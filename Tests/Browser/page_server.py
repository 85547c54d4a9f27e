"""A web server that is not Waybridge: pages of another origin than the bridge's."""

import ssl
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BRIDGE = Path(__file__).resolve().parents[2] / "web/bridge"


def certified():
    """A TLS context with a new certificate for 127.0.0.1, signed by itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
        subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
        subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context.load_cert_chain(certificate, key)
    return context


class PageServer:
    """Serves the given pages by their paths, and the JavaScript client below /bridge/. `tls` is the context of an https server."""

    def __init__(self, pages, tls=None):
        self.requests = []  # paths and headers, as text
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(f"{self.path}\n{self.headers}")
                path = self.path.partition("?")[0]
                file = BRIDGE / path.removeprefix("/bridge/")
                if path in pages:
                    self.respond("text/html", pages[path].encode())
                elif path.startswith("/bridge/") and file.is_file():
                    self.respond("text/javascript", file.read_bytes())
                else:
                    self.send_error(404)

            def respond(self, kind, body):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", "*")  # for sandboxed frames, whose origin is null
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            # The handshake happens in the thread of the connection.
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.origin = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
