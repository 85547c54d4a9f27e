"""The guides of web/docs, each walked through from its beginning to its end: the same commands and files as a reader has."""

import unittest

from walk import DOCS, Walk, steps

# Those that are walked by a test of their own: test_tutorial.py, test_docs.py.
ELSEWHERE = {"README.md", "tutorial.md", "bbrouter.md", "jlroutes.md", "therouter.md", "webviewaction.md"}
WALKED = ["own-client.md", "proxy.md", "policy.md", "durable.md", "testing.md", "operating.md"]


class Guides(unittest.TestCase):
    maxDiff = None

    def walk(self, name):
        with Walk() as walk:
            walk.play(name)

    def test_each_has_commands_and_shows_what_they_print(self):
        for name in WALKED:
            kinds = [kind for kind, _, _ in steps(name)]
            with self.subTest(name):
                self.assertIn("sh", kinds)
                self.assertIn("text", kinds)

    def test_own_client(self):
        self.walk("own-client.md")

    def test_proxy(self):
        self.walk("proxy.md")

    def test_policy(self):
        self.walk("policy.md")

    def test_durable(self):
        self.walk("durable.md")

    def test_testing(self):
        self.walk("testing.md")

    def test_operating(self):
        self.walk("operating.md")

    def test_each_is_walked(self):
        for name in WALKED:
            self.assertTrue(callable(getattr(self, f"test_{name.removesuffix('.md').replace('-', '_')}", None)), name)
            self.assertTrue((DOCS / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
