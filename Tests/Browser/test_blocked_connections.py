"""Pages on which the browser blocks the connection, or that have no bridge: the client reports one error that says so, and stops."""

import unittest
from pathlib import Path

from browser import NAME, BrowserCase
from demo_server import DemoServer
from page_server import PageServer, certified

TABLE = Path(__file__).resolve().parents[2] / "protocol/routes/demo.json"

EMPTY = "<!doctype html><title>elsewhere</title>"
# A page that may connect to its own origin only.
RESTRICTED = f"""<!doctype html><meta http-equiv="Content-Security-Policy" content="connect-src 'self'"><title>restricted</title>"""

# Connects; returns how this ended, what the client did in the seconds after it, and how many sockets it made.
CONNECT = """
  const [url] = arguments;
  const { Bridge } = await import("/bridge/bridge.js");
  let sockets = 0;
  class CountedSocket extends WebSocket {
    constructor(...all) {
      super(...all);
      sockets += 1;
    }
  }
  const began = performance.now();
  const options = { WebSocket: CountedSocket, keep: "nothing", reconnect: { minDelay: 20, maxDelay: 50 } };
  const bridge = new Bridge(url === null ? options : { ...options, url });
  const states = [];
  bridge.addEventListener("statechange", ({ detail }) => states.push(detail.state));
  const timeout = new Promise((resolve) => setTimeout(() => resolve({ end: "none within 10 s" }), 10000));
  const ended = bridge.ready.then(
    () => ({ end: "open" }),
    ({ name, code, message, retryable }) => ({ end: "error", name, code, message, retryable }),
  );
  const result = await Promise.race([ended, timeout]);
  const made = sockets;
  if (result.end === "error") await new Promise((resolve) => setTimeout(resolve, 500));
  const closed = states.filter((state) => state === "closed").length;
  const found = { ...result, state: bridge.state, closed, made, later: sockets - made };
  await bridge.close();
  return found;
"""


class BlockedConnectionsTest(BrowserCase):
    size = (800, 600)

    def pages(self, pages, tls=None):
        pages = PageServer(pages, tls)
        self.addCleanup(pages.stop)
        return pages

    def serve(self, origin):
        """The endpoint of a server that allows this origin."""
        server = DemoServer(arguments=("serve", "--table", str(TABLE), "--allow-origin", origin))
        self.addCleanup(server.stop)
        return f"ws://127.0.0.1:{server.port}/bridge"

    def connect(self, address, url):
        self.driver.get(address)
        return self.driver.execute_script(CONNECT, url)

    def assert_one_error(self, found, *words):
        self.assertEqual("error", found["end"], found)
        for word in words:
            self.assertRegex(found["message"], word)
        self.assertIs(found["retryable"], False, found)
        self.assertEqual("closed", found["state"], found)
        self.assertEqual(1, found["closed"], found)
        # One that failed, and at most one more to make sure.
        self.assertLessEqual(found["made"], 2, found)
        self.assertEqual(0, found["later"], "the client connects again after its error")

    def test_secure_page_connects_to_this_machine_or_reports_an_error(self):
        pages = self.pages({"/": EMPTY}, certified())
        url = self.serve(pages.origin)
        found = self.connect(f"{pages.origin}/", url)
        if NAME == "webkit":
            # WebKit blocks insecure sockets of secure pages, also those to the machine on which it runs.
            self.assert_one_error(found, r"https page", r"\bwss\b", url)
        else:
            self.assertEqual("open", found["end"], found)

    def test_content_security_policy_without_endpoint_is_reported(self):
        pages = self.pages({"/": RESTRICTED})
        url = self.serve(pages.origin)
        self.assert_one_error(self.connect(f"{pages.origin}/", url), r"(?i)content security policy", r"connect-src", url)

    def test_client_without_url_on_another_origin_is_reported(self):
        pages = self.pages({"/": EMPTY})
        self.assert_one_error(self.connect(f"{pages.origin}/", None), r"\burl\b", pages.origin.partition("//")[2])


if __name__ == "__main__":
    unittest.main()
