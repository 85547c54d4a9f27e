"""nginx and haproxy with the configurations of protocol/proxies, on a free port, with a certificate of their own."""

import os
import pathlib
import select
import socket
import ssl
import subprocess
import tempfile
import time

from command import ROOT

NAME = "app.example.org"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Proxy:
    """A proxy with TLS in the foreground, from its first connection to the end of the `with` block. `upstream` is the
    port or the path of a bridge; `changes` are further replacements in the configuration."""

    def __init__(self, configuration, upstream, changes=()):
        self._text = (ROOT / "protocol/proxies" / configuration).read_text()
        self._is_nginx = configuration.startswith("nginx")
        self._changes = [("127.0.0.1:8080", f"127.0.0.1:{upstream}"), ("/run/waybridge/socket", upstream), *changes]

    def __enter__(self):
        self._temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._temporary.name)
        # Workers run as another user than root and must be able to read it.
        folder.chmod(0o755)
        key, certificate = folder / "key.pem", folder / "cert.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
             "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", key, "-out", certificate],
            check=True, capture_output=True,
        )  # fmt: skip
        (folder / "both.pem").write_text(certificate.read_text() + key.read_text())
        self._context = ssl.create_default_context(cafile=str(certificate))
        self._start(folder)
        return self

    def _start(self, folder):
        """Another program may take the free port first; then another port is used."""
        for _ in range(3):
            self.port = free_port()
            self._log = open(folder / "log", "w+")
            # They are in folders that are not on the path of most users.
            path = os.environ["PATH"] + ":/usr/sbin"
            self._process = subprocess.Popen(
                self._command(folder), stdout=self._log, stderr=subprocess.STDOUT, cwd=folder, env={**os.environ, "PATH": path}
            )
            if self._is_listening():
                return
            self._process.kill()
            self._process.wait()
        raise AssertionError(self.log())

    def _is_listening(self):
        deadline = time.monotonic() + 20
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=20).close()
                return True
            except ConnectionRefusedError:
                select.select([], [], [], 0.02)
        return False

    def _command(self, folder):
        text = self._text
        changes = [
            ("/etc/ssl/private/waybridge.crt", f"{folder}/cert.pem"),
            ("/etc/ssl/private/waybridge.key", f"{folder}/key.pem"),
            ("/etc/ssl/private/waybridge.pem", f"{folder}/both.pem"),
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            ("bind :443", f"bind 127.0.0.1:{self.port}"),
        ]
        for old, new in [*changes, *self._changes]:
            text = text.replace(str(old), str(new))
        if not self._is_nginx:
            (folder / "haproxy.cfg").write_text(text)
            return ["haproxy", "-db", "-f", "haproxy.cfg"]
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        (folder / "nginx.conf").write_text(text.replace("http {", f"http {{\naccess_log off;\n{paths}", 1))
        # The socket of a bridge is accessible only to its own user.
        user = "user root;" if os.getuid() == 0 else ""
        settings = f"daemon off; pid {folder}/pid; error_log stderr; {user}"
        return ["nginx", "-p", str(folder), "-e", "stderr", "-c", "nginx.conf", "-g", settings]

    def connect(self):
        """A connection with TLS."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        return self._context.wrap_socket(plain, server_hostname=NAME)

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()
        self._temporary.cleanup()


def http_request(connected, path, *fields, host=NAME, method="GET", body=""):
    """Sends one request; returns status, header fields (names in lower case) and body."""
    with connected:
        hosts = [] if host is None else [f"Host: {host}"]
        lines = [f"{method} {path} HTTP/1.1", *hosts, *fields, "Connection: close"]
        connected.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        response = b""
        while data := connected.recv(65_536):
            response += data
    head, _, body = response.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return int(status.split()[1]), {line.split(": ")[0].lower(): line.split(": ", 1)[1] for line in lines}, body
