"""A page of another origin and port, in real browsers: allowed by one flag, and rejected without it."""

import functools
import http.server
import shutil
import tempfile
import threading
import unittest
from pathlib import Path

from browser import BrowserCase
from demo_server import DemoServer
from phone import Phone
from selenium.common.exceptions import WebDriverException

ROOT = Path(__file__).resolve().parents[2]

PAGE = """<!doctype html>
<title>Another origin</title>
<script type="module">
  import { Bridge } from "/bridge/bridge.js";

  // A native page, shown by this page itself, and done as soon as it is shown.
  window.openPage = async (url) => {
    const bridge = new Bridge({ url, hosts: { native: { open: () => {}, close: () => {} } } });
    const onProgress = ({ opened }) => bridge.finish({ id: "a2", name: "Home", street: "Dock Road 1", city: "Kyoto" }, { page: opened.page });
    const outcome = await bridge.open("native://address/list", {}, { onProgress });
    await bridge.close();
    return `${outcome.outcome} ${outcome.data.city}`;
  };
  // Whether a WebSocket opens.
  window.connects = (url) => new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onopen = () => { resolve(true); socket.close(); };
    socket.onerror = () => resolve(false);
  });
  // What a script can make of an address: its text, that there is something, or nothing.
  window.read = async (url) => {
    try {
      return await (await fetch(url)).text();
    } catch {
      return fetch(url, { mode: "no-cors" }).then(({ type }) => type, () => "nothing");
    }
  };
  window.evaluate = (promise) => {
    window.answer = undefined;
    promise.catch((error) => error).then((answer) => { window.answer = String(answer); });
  };
  document.title = "ready";
</script>
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Site:
    """Files of another origin than the bridge's, with the client among them."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        Path(self._folder.name, "index.html").write_text(PAGE)
        shutil.copytree(ROOT / "web/bridge", Path(self._folder.name, "bridge"))
        handler = functools.partial(QuietHandler, directory=self._folder.name)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.origin = f"http://localhost:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._folder.cleanup()


class CrossOriginTest(BrowserCase):
    @classmethod
    def setUpClass(cls):
        cls.site = Site()
        cls.addClassCleanup(cls.site.stop)

    def serve(self, *arguments):
        server = DemoServer(arguments=("demo", *arguments))
        self.addCleanup(server.stop)
        self.phone = Phone(self.driver)
        self.driver.get(self.site.origin + "/")
        self.phone.wait(lambda: self.driver.execute_script("return document.title") == "ready", "the page")
        return server

    def evaluate(self, call):
        """Returns the result of a call in the page."""
        self.driver.execute_script(f"evaluate({call})")
        return self.phone.wait(lambda: self.driver.execute_script("return window.answer"), call)

    def framed(self, address):
        """The text of a page in a frame of the other origin."""
        script = f'const f = document.createElement("iframe"); f.onload = () => {{ window.answer = "loaded"; }}; f.src = "{address}";'
        self.driver.execute_script(f"window.answer = undefined; {script} document.body.append(f)")
        self.phone.wait(lambda: self.driver.execute_script("return window.answer"), "the frame")
        self.driver.switch_to.frame(self.driver.find_elements("css selector", "iframe")[0])
        try:
            return self.driver.execute_script("return document.body.textContent")
        except WebDriverException:
            return "what the browser shows in its place"
        finally:
            self.driver.switch_to.default_content()

    def test_allowed_origin_can_open_native_page(self):
        server = self.serve("--allow-origin", self.site.origin)
        bridge = f"ws://127.0.0.1:{server.port}/bridge"
        self.assertEqual("finished Kyoto", self.evaluate(f'openPage("{bridge}")'))
        self.assertEqual('{"status":"ok"}\n', self.evaluate(f'read("{server.address}/health")'))
        self.assertIn("This page was opened outside of the app", self.framed(f"{server.address}/demo/pages/shop.html"))
        for path in ("/demo/", "/bridge/bridge.js"):
            self.assertEqual("nothing", self.evaluate(f'read("{server.address}{path}")'))

    def test_rejected_origin_can_only_detect_server(self):
        server = self.serve()
        self.assertEqual("false", self.evaluate(f'connects("ws://127.0.0.1:{server.port}/bridge")'))
        self.assertEqual("opaque", self.evaluate(f'read("{server.address}/health")'))
        self.assertNotIn("This page was opened outside of the app", self.framed(f"{server.address}/demo/pages/shop.html"))
        server.stop()
        self.assertEqual("nothing", self.evaluate(f'read("{server.address}/health")'))


if __name__ == "__main__":
    unittest.main()
