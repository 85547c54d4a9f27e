"""A TCP proxy between a page and a server, which can drop all traffic."""

import socket
import threading


class TCPProxy:
    """Forwards a free port to the port `target`, which is set when it is known."""

    def __init__(self):
        self.target = None
        self._drops_traffic = False
        self._sockets = []
        self._threads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._run(self._accept)

    def drop_traffic(self):
        """Forwards nothing from now on, not even the end of a connection."""
        self._drops_traffic = True

    def restore(self):
        """Forwards new connections again; closes those that have lost data."""
        self._drops_traffic = False
        self._close()

    def stop(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._close()
        for thread in self._threads:
            thread.join()

    def _close(self):
        for each in self._sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended already
        self._sockets = []

    def _run(self, body, *arguments):
        thread = threading.Thread(target=body, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            self._sockets += [client, server]
            self._run(self._forward, client, server)
            self._run(self._forward, server, client)

    def _forward(self, source, sink):
        try:
            while data := source.recv(65536):
                if not self._drops_traffic:
                    sink.sendall(data)
            if not self._drops_traffic:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other direction has ended both
        finally:
            source.close()
