"""A web server that is no Waybridge: pages of another origin than the bridge's."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BRIDGE = Path(__file__).resolve().parents[2] / "web/bridge"


class PageServer:
    """Serves the given pages by their paths, and the JavaScript client below /bridge/."""

    def __init__(self, pages):
        self.requests = []  # paths and headers, as text
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(f"{self.path}\n{self.headers}")
                path = self.path.partition("?")[0]
                file = BRIDGE / path.removeprefix("/bridge/")
                if path in pages:
                    self.answer("text/html", pages[path].encode())
                elif path.startswith("/bridge/") and file.is_file():
                    self.answer("text/javascript", file.read_bytes())
                else:
                    self.send_error(404)

            def answer(self, kind, body):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", "*")  # for sandboxed frames, whose origin is null
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
