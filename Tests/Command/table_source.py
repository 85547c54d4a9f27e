"""A server of route tables that does what a test tells it to, also what no server should do."""

import http.server
import ssl
import threading


class TableSource:
    """Serves at `url`. `answer` is called with each request's handler; `asked` holds their `If-None-Match`."""

    def __init__(self, certificate=None):
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                source.asked.append(self.headers.get("If-None-Match"))
                with source.changed:
                    source.changed.notify_all()
                source.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """Who goes in the middle of an answer is no error here."""

        self.changed = threading.Condition()
        self.asked = []
        self.answer = lambda handler: handler.send_error(404)
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        scheme = "http"
        if certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{scheme}://localhost:{self.server.server_port}/app/routes.json?channel=a b".replace(" ", "%20")
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def serves(self, body, etag=None, status=200):
        """From now on answers with this; with 304 to who has `etag`."""

        def answer(handler):
            if etag and handler.headers.get("If-None-Match") == etag:
                handler.send_response(304)
                handler.send_header("Content-Length", "0")
                return handler.end_headers()
            handler.send_response(status)
            if etag:
                handler.send_header("ETag", etag)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self.answer = answer

    def await_requests(self, count):
        """Waits until so many requests have come in all."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.asked) >= count, timeout=30):
                raise AssertionError(f"only {len(self.asked)} requests came, not {count}")
