"""An app whose sessions are inspected: a client without a browser that shows pages and makes calls."""

import json
import socket
import threading
import time

import websocket

TIMEOUT = 20  # seconds


class AppClient:
    """A client of a session of its own. It responds to every request."""

    def __init__(self, address, name, **options):
        url = address.replace("http", "ws", 1) + "/bridge"
        self._socket = websocket.create_connection(url, subprotocols=["waybridge.v1"], timeout=TIMEOUT, suppress_origin=True)
        self._lock = threading.Lock()
        self._responses = {}
        self._received = threading.Condition()
        self._last = 0
        self._is_closed = threading.Event()
        params = {"protocol": ["1.0"], "client": {"name": name, "version": "2.0"}, **options}
        self._send({"id": "hello", "method": "session.open", "params": params})
        hello = json.loads(self._socket.recv())["result"]
        self.session, self.client, self.join_token = hello["session"], hello["client"], hello.get("joinToken")
        self._close_code = None
        threading.Thread(target=self._read, daemon=True).start()

    def _send(self, message):
        with self._lock:
            self._socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    def _read(self):
        while True:
            try:
                kind, data = self._socket.recv_data()
            except (OSError, websocket.WebSocketException):
                return
            if kind == websocket.ABNF.OPCODE_CLOSE:
                with self._received:
                    self._close_code = int.from_bytes(data[:2], "big")
                    self._received.notify_all()
                return
            message = json.loads(data)
            if "method" not in message:
                with self._received:
                    self._responses[message["id"]] = message
                    self._received.notify_all()
            elif "id" in message:
                self._send({"id": message["id"], "result": None})

    def begin(self, method, **params):
        """Sends a request; returns its id."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        return self._last

    def response(self, number):
        with self._received:
            if not self._received.wait_for(lambda: number in self._responses, TIMEOUT):
                raise TimeoutError(f"no response to {number}")
            return self._responses.pop(number)

    def request(self, method, **params):
        return self.response(self.begin(method, **params))

    def call(self, rate, seconds, uri):
        """Makes this number of calls a second; returns how many were sent."""
        begin = time.monotonic()
        sent = 0
        while sent < rate * seconds and (now := time.monotonic() - begin) < seconds:
            if self._is_closed.wait(max(0, sent / rate - now)):
                break
            self.begin("router.invoke", uri=uri, params={"n": sent})
            sent += 1
        return sent

    def close_code(self):
        """The code with which the server closes the connection."""
        with self._received:
            if not self._received.wait_for(lambda: self._close_code is not None, TIMEOUT):
                raise TimeoutError("the connection is not closed")
            return self._close_code

    def disconnect(self):
        """Closes the connection without a close frame."""
        self._is_closed.set()
        self._socket.sock.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._is_closed.set()
        self._socket.close()
