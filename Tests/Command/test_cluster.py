"""`waybridge serve --cluster`: sessions in NATS with JetStream, which another server goes on with, and engines that take none."""

import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import unittest

from command import Server, run
from test_data import Client, health

ECHO = {"uri": "action://echo", "params": {"n": 1}, "key": "k"}


class Engine:
    """A nats-server on a port of its own."""

    def __init__(self, folder, *more, port=-1):
        command = ["nats-server", "-a", "127.0.0.1", "-p", str(port), "-sd", folder, *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        told = ""
        for line in self.process.stderr:
            told += line
            if "Server is ready" in line:
                break
        self.port = int(re.search(r"client connections on 127\.0\.0\.1:(\d+)", told)[1])
        self.url = f"nats://127.0.0.1:{self.port}"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class Cluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.engine = self.begin("-js")

    def begin(self, *more, **how):
        engine = Engine(self.folder, *more, **how)
        self.addCleanup(engine.end)
        return engine

    def serve(self, *more):
        return Server("serve", "--conformance", "--cluster", self.engine.url, "--port", "0", *more)

    def client(self, server):
        client = Client(server)
        self.addCleanup(client.close)
        return client

    def test_another_server_goes_on_with_the_sessions_of_one_that_was_killed(self):
        with self.serve() as server:
            client = self.client(server)
            self.assertEqual({"n": 1}, client.call("router.invoke", ECHO)["result"])
            server.end(signal.SIGKILL)
        with self.serve() as server:
            again = client.resume(server, 1)
            self.assertEqual((True, True, 1), (again["resumed"], again["restarted"], again["received"]))
            self.assertEqual({"n": 1}, client.call("router.invoke", ECHO)["result"])
            self.assertEqual({"status": "ok"}, health(server))
            # What has ended goes from the engine too.
            client.call("session.close", {})
            server.end(signal.SIGTERM)
        with self.serve() as server:
            self.assertEqual("unknown", client.resume(server, 2)["reason"])

    def test_sessions_of_a_server_that_is_there_stay_with_it(self):
        with self.serve() as one, self.serve() as other:
            client = self.client(one)
            client.call("router.invoke", ECHO)
            with self.serve() as third:
                self.assertEqual("unknown", client.resume(third, 1)["reason"])
            self.assertEqual(True, client.resume(one, 1)["resumed"])
            self.assertEqual({"n": 1}, self.client(other).call("router.invoke", ECHO)["result"])

    def test_who_was_taken_over_from_while_it_slept_says_nothing_more(self):
        with self.serve() as asleep:
            client = self.client(asleep)
            client.call("router.invoke", ECHO)
            stranger = self.client(asleep)
            asleep.process.send_signal(signal.SIGSTOP)
            try:
                with self.serve() as server:
                    again = client.resume(server, 1)
                    self.assertEqual(True, again["resumed"])
                    asleep.process.send_signal(signal.SIGCONT)
                    # A change of a session that is another server's is refused, and its client sent away.
                    with self.assertRaisesRegex(ConnectionError, "4200"):
                        stranger.call("router.invoke", ECHO)
                    self.assertEqual({"n": 1}, client.call("router.invoke", ECHO)["result"])
                    again = stranger.resume(server, 0)
                    self.assertEqual(True, again["resumed"])
                    # It goes on with others.
                    self.assertEqual({"n": 1}, self.client(asleep).call("router.invoke", ECHO)["result"])
            finally:
                asleep.process.send_signal(signal.SIGCONT)

    def test_an_engine_that_comes_back_has_everything_again(self):
        with self.serve() as server:
            client = self.client(server)
            self.assertEqual({"n": 1}, client.call("router.invoke", ECHO)["result"])
            self.engine.end()
            # A call goes on without it, and nobody is told that it is kept.
            self.assertEqual({"n": 2}, client.call("router.invoke", {**ECHO, "params": {"n": 2}, "key": "l"})["result"])
            self.assertEqual("degraded", health(server)["status"])
            engine = self.begin("-js", port=self.engine.port)
            for _ in range(400):
                if health(server)["status"] == "ok":
                    break
                threading.Event().wait(0.05)
            self.assertEqual({"status": "ok"}, health(server))
            server.end(signal.SIGKILL)
            self.assertEqual(self.engine.url, engine.url)
        with self.serve() as server:
            self.assertEqual(True, client.resume(server, 2)["resumed"])
            self.assertEqual({"n": 2}, client.call("router.invoke", {**ECHO, "params": {"n": 2}, "key": "l"})["result"])

    def refusal(self, url, *more):
        code, output, errors = run("serve", "--cluster", url, "--port", "0", *more)
        self.assertEqual((1, ""), (code, output))
        return errors

    def test_an_engine_that_cannot_be_used_is_told_at_start(self):
        self.engine.end()
        self.assertRegex(self.refusal(self.engine.url), "no connection can be made: .*start nats-server there")
        bare = self.begin(port=self.engine.port)
        self.assertIn("start nats-server with JetStream", self.refusal(bare.url))
        bare.end()
        closed = self.begin("-js", "--user", "ada", "--pass", "secret", port=self.engine.port)
        errors = self.refusal(f"nats://ada:wrong@127.0.0.1:{closed.port}")
        self.assertIn("a user and a password that may", errors)
        self.assertNotIn("wrong", errors)
        self.assertIn("not in both", self.refusal(closed.url, "--data", str(pathlib.Path(self.folder, "data"))))


if __name__ == "__main__":
    unittest.main()
