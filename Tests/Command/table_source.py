"""A server of route tables that behaves as a test says, including invalid behaviour."""

import http.server
import ssl
import threading


class TableSource:
    """Serves at `url`. `respond` is called with each request's handler; `etags` holds their `If-None-Match`."""

    def __init__(self, certificate=None):
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                source.etags.append(self.headers.get("If-None-Match"))
                with source.changed:
                    source.changed.notify_all()
                source.respond(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """A client that closes in the middle of a response is not an error here."""

        self.changed = threading.Condition()
        self.etags = []
        self.respond = lambda handler: handler.send_error(404)
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

    def set_response(self, body, etag=None, status=200):
        """Responds with this from now on; with 304 to requests that have `etag`."""

        def respond(handler):
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

        self.respond = respond

    def await_requests(self, count):
        """Waits until this number of requests has arrived in total."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.etags) >= count, timeout=30):
                raise AssertionError(f"only {len(self.etags)} requests came, not {count}")
