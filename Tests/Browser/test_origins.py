"""A page of another origin than the bridge's: refused with what to do, and let in by one flag."""

import socket
import unittest
from pathlib import Path

from browser import BrowserCase
from demo_server import DemoServer
from page_server import PageServer

TABLE = Path(__file__).resolve().parents[2] / "protocol/routes/demo.json"

# The whole of a page that is invited. Its query names the bridge whose invitations it accepts.
GUEST = """<!doctype html><title>guest</title><script type="module">
import { Bridge } from "/bridge/bridge.js";
const bridge = new Bridge({ bridges: [decodeURIComponent(location.search.slice(1))] });
const { outcome, data } = await bridge.open("native://address/list");
parent.postMessage({ outcome, data, page: bridge.session.page, href: location.href }, "*");
</script>"""

# Begins with the address of the bridge as `url`, and ends with the text that it returns.
SCRIPT = """return (async () => {{
  const {{ Bridge }} = await import("/bridge/bridge.js");
  const url = "{url}";
  {body}
}})()"""

WHY = """const bridge = new Bridge({ url });
  return bridge.ready.then(() => "open", (error) => `${error.name} ${error.code} ${bridge.state}: ${error.message}`);"""

SANDBOXED = """<!doctype html><title>sandboxed</title><script type="module">
import { Bridge } from "/bridge/bridge.js";
const url = decodeURIComponent(location.search.slice(1));
new Bridge({ url }).ready.then(() => parent.postMessage("open", "*"), (error) => parent.postMessage(error.message, "*"));
</script>"""


class OriginsTest(BrowserCase):
    size = (800, 600)

    @classmethod
    def setUpClass(cls):
        cls.pages = PageServer(
            {"/": "<!doctype html><title>elsewhere</title>", "/guest.html": GUEST, "/sandboxed.html": SANDBOXED}
        )
        cls.addClassCleanup(cls.pages.stop)

    def setUp(self):
        super().setUp()
        self.driver.get(f"{self.pages.origin}/")

    def serve(self, *flags):
        """The address of a bridge that was started with these flags."""
        server = DemoServer(arguments=("serve", "--table", str(TABLE), *flags))
        self.addCleanup(server.stop)
        return f"ws://127.0.0.1:{server.port}/bridge"

    def run_script(self, url, body):
        return self.driver.execute_script(SCRIPT.format(url=url, body=body))

    def test_rejected_page_receives_flag_that_allows_it(self):
        url = self.serve()
        server = url.replace("ws:", "http:").removesuffix("/bridge")
        self.assertEqual(
            self.run_script(url, WHY),
            f"BridgeRejectedError 2403 closed: The server at {server} rejects pages of {self.pages.origin}; "
            f"start it with --allow-origin {self.pages.origin}",
        )

    def test_sandboxed_frame_receives_hint_about_null_origin(self):
        body = """const told = new Promise((resolve) => addEventListener("message", ({ data }) => resolve(data)));
          const frame = document.createElement("iframe");
          frame.sandbox = "allow-scripts";
          frame.src = `/sandboxed.html?${encodeURIComponent(url)}`;
          document.body.append(frame);
          return told;"""
        self.assertIn("--allow-origin null, which allows all such pages", self.run_script(self.serve(), body))

    def test_client_waits_for_unreachable_server(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"ws://127.0.0.1:{free.getsockname()[1]}/bridge"
        body = """const bridge = new Bridge({ url });
          const state = await new Promise((resolve) => bridge.addEventListener("statechange", ({ detail }) => resolve(detail.state)));
          await bridge.close();
          return state;"""
        self.assertEqual(self.run_script(url, body), "waiting")

    def test_allowed_page_shows_native_pages_to_its_guests(self):
        url = self.serve("--allow-origin", self.pages.origin)
        body = """
          const shell = new Bridge({ url, hosts: { native: {
            open: ({ id, uri }) => {
              if (uri === "native://address/list") setTimeout(() => shell.finish({ id: "a2", name: "Home", street: "Dock Road 1", city: "Kyoto" }, { page: id }));
            },
            close: () => {},
          } } });
          const { opened } = await new Promise((onProgress) => shell.open("native://home", {}, { onProgress }));
          const told = new Promise((resolve) => addEventListener("message", ({ data }) => resolve(data)));
          const frame = document.createElement("iframe");
          frame.src = await shell.invite(`/guest.html?${encodeURIComponent(url)}#chapter`, { page: opened.page });
          document.body.append(frame);
          const { outcome, data, page: bound, href } = await told;
          const token = JSON.parse(atob(frame.src.split("waybridge=")[1].replaceAll("-", "+").replaceAll("_", "/"))).token;
          await shell.close();
          return [outcome, data.city, String(bound === opened.page), new URL(href).hash, token];"""
        *seen, token = self.run_script(url, body)
        self.assertEqual(seen, ["finished", "Kyoto", "true", "#chapter"])
        self.assertGreater(len(token), 8)
        self.assertEqual([request for request in self.pages.requests if token in request or "waybridge=" in request], [])


if __name__ == "__main__":
    unittest.main()
