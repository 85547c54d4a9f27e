"""A suspended tab, or one without a network for a while, resumes where it was, with the result that arrived meanwhile."""

import json
import tempfile
import unittest
import urllib.parse

from selenium.webdriver.support.ui import WebDriverWait

from browser import BrowserCase
from demo_server import DemoServer
from page_server import PageServer
from tcp_proxy import TCPProxy

TIMEOUT = 20  # seconds

# With `join` it is a page that calls; without it, it is the app that finishes the task when the test says so.
PAGE = """<!doctype html><title>page</title><script type="module">
import { Bridge } from "/bridge/bridge.js";
const options = JSON.parse(decodeURIComponent(location.search.slice(1)));
window.seen = [];
window.asked = 0;
const slow = () => new Promise((resolve) => { window.asked += 1; window.finish = resolve; });
const bridge = new Bridge({
  ...options, ping: { after: 300, timeout: 500 }, reconnect: { minDelay: 50, maxDelay: 200 },
  tasks: options.join ? {} : { "action://slow": slow },
});
bridge.addEventListener("statechange", ({ detail }) => seen.push(detail));
for (const type of ["freeze", "resume"]) document.addEventListener(type, () => seen.push(type));
window.bridge = bridge;
</script>"""


class SuspendedTabCase(BrowserCase):
    size = (800, 600)

    @classmethod
    def setUpClass(cls):
        cls.pages = PageServer({"/page.html": PAGE})
        cls.addClassCleanup(cls.pages.stop)

    def setUp(self):
        super().setUp()
        self.thaw = lambda: None
        self.proxy = TCPProxy()
        self.addCleanup(self.proxy.stop)
        access = ("--allow-origin", self.pages.origin, "--allow-host", f"127.0.0.1:{self.proxy.port}")
        self.command = ("serve", "--conformance", "--drain", "0", *access, *self.flags())
        self.serve(0)
        self.proxy.target = self.port
        self.app = self.load(self.port)
        key = self.driver.execute_script("return {session: bridge.session.session, token: bridge.session.joinToken}")
        self.driver.switch_to.new_window("tab")
        self.page = self.load(self.proxy.port, join=key)
        self.session = self.driver.execute_script("return [bridge.session.session, bridge.session.client]")
        self.driver.execute_script(
            "bridge.invoke('action://slow', {}, { key: 'slow' }).then((value) => (window.result = value), (error) => (window.result = `${error}`))"
        )
        self.show(self.app)
        self.wait("return window.asked === 1", "the task")

    def flags(self):
        return ()

    def serve(self, port):
        self.server = DemoServer(port, self.command)
        self.addCleanup(self.server.stop)
        self.port = self.server.port

    def tearDown(self):
        self.thaw()
        self.show(self.page)
        self.driver.close()
        self.show(self.app)

    def load(self, port, **options):
        """Opens the page in the current tab; returns the tab."""
        options["url"] = f"ws://127.0.0.1:{port}/bridge"
        self.driver.get(f"{self.pages.origin}/page.html?{urllib.parse.quote(json.dumps(options))}")
        self.wait("return window.bridge?.state === 'open'", "the session")
        return self.driver.current_window_handle

    def show(self, tab):
        self.driver.switch_to.window(tab)

    def wait(self, script, what):
        waiting = WebDriverWait(self.driver, TIMEOUT, 0.05)
        return waiting.until(lambda driver: driver.execute_script(script), f"waited for {what}")

    def freeze(self):
        """Puts the page behind the app, where it is suspended."""
        self.show(self.page)
        self.thaw = self.driver.freeze()
        self.show(self.app)

    def finish(self):
        """Lets the app finish the task, and waits until the server has received that."""
        self.driver.execute_script("finish(7); bridge.request('$/ping').then(() => (window.isHeard = true))")
        self.wait("return window.isHeard", "the server")

    def states(self):
        return self.driver.execute_script("return seen.map((each) => each.state ?? each)")

    def assert_session_resumed(self):
        self.wait("return window.result !== undefined && bridge.state === 'open'", "the result")
        self.assertEqual(self.driver.execute_script("return window.result"), 7)
        now = self.driver.execute_script("return [bridge.session.session, bridge.session.client]")
        self.assertEqual(now, self.session)
        lost = self.driver.execute_script("return seen.filter(({ lost }) => lost).length")
        self.assertEqual(lost, 0)

    def network(self, is_there):
        """The proxy affects existing connections, the browser new ones and `navigator.onLine`."""
        if is_there:
            self.proxy.restore()
        else:
            self.proxy.drop_traffic()
        self.is_emulated = self.driver.set_online(is_there)


class SuspendedTabTest(SuspendedTabCase):
    def test_background_tab_receives_result(self):
        self.finish()
        self.show(self.page)
        self.assert_session_resumed()

    def test_frozen_tab_receives_result_after_thaw(self):
        self.freeze()
        # The tab returns with another network.
        self.proxy.restore()
        self.finish()
        self.thaw()
        self.assert_session_resumed()
        states = self.states()
        if "freeze" in states:  # Chromium tells the page
            self.assertLess(states.index("resume"), states.index("waiting"), states)

    def test_offline_tab_receives_result_when_online_again(self):
        self.show(self.page)
        self.network(False)
        self.wait("return seen.some(({ state, code }) => state === 'waiting' && code === 4202)", "the end of its patience")
        self.show(self.app)
        self.finish()
        self.show(self.page)
        self.assertEqual(self.driver.execute_script("return [window.result ?? null, navigator.onLine]"), [None, not self.is_emulated])
        self.network(True)
        self.assert_session_resumed()


class DurableSuspendedTabTest(SuspendedTabCase):
    """The server persists its sessions, and is restarted while the tab is suspended."""

    def flags(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return ("--data", folder.name)

    def test_frozen_tab_receives_result_after_server_crash(self):
        self.freeze()
        self.server.crash()
        self.serve(self.port)
        self.wait("return bridge.state === 'open' && seen.some(({ restarted }) => restarted)", "the app's session")
        self.finish()
        self.assertEqual(self.driver.execute_script("return window.asked"), 1, "the app was not asked again, because it still works on the task")
        self.thaw()
        self.assert_session_resumed()
        restarted = self.driver.execute_script("return seen.filter(({ restarted }) => restarted).length")
        self.assertEqual(restarted, 1)


if __name__ == "__main__":
    unittest.main()
