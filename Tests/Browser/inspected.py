"""An app whose sessions are inspected: a client without a browser, which shows pages and calls."""

import json
import socket
import threading
import time

import websocket

PATIENCE = 20  # seconds


class App:
    """A client of a session of its own. It answers what it is asked."""

    def __init__(self, address, name, **members):
        url = address.replace("http", "ws", 1) + "/bridge"
        self._socket = websocket.create_connection(url, subprotocols=["waybridge.v1"], timeout=PATIENCE, suppress_origin=True)
        self._lock = threading.Lock()
        self._answers = {}
        self._came = threading.Condition()
        self._last = 0
        self._is_closed = threading.Event()
        params = {"protocol": ["1.0"], "client": {"name": name, "version": "2.0"}, **members}
        self._send({"id": "hello", "method": "session.open", "params": params})
        hello = json.loads(self._socket.recv())["result"]
        self.session, self.client = hello["session"], hello["client"]
        threading.Thread(target=self._read, daemon=True).start()

    def _send(self, message):
        with self._lock:
            self._socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    def _read(self):
        while True:
            try:
                text = self._socket.recv()
            except (OSError, websocket.WebSocketException):
                return
            if not text:
                return
            message = json.loads(text)
            if "method" not in message:
                with self._came:
                    self._answers[message["id"]] = message
                    self._came.notify_all()
            elif "id" in message:
                self._send({"id": message["id"], "result": None})

    def begin(self, method, **params):
        """Sends a request; gives its id."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        return self._last

    def answer(self, number):
        with self._came:
            if not self._came.wait_for(lambda: number in self._answers, PATIENCE):
                raise TimeoutError(f"no answer to {number}")
            return self._answers.pop(number)

    def ask(self, method, **params):
        return self.answer(self.begin(method, **params))

    def call(self, rate, seconds, uri):
        """So many calls a second; gives how many were sent."""
        begin = time.monotonic()
        sent = 0
        while sent < rate * seconds and (now := time.monotonic() - begin) < seconds:
            if self._is_closed.wait(max(0, sent / rate - now)):
                break
            self.begin("router.invoke", uri=uri, params={"n": sent})
            sent += 1
        return sent

    def vanish(self):
        """Its connection ends without a word."""
        self._is_closed.set()
        self._socket.sock.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._is_closed.set()
        self._socket.close()
