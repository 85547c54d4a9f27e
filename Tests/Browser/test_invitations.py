"""The demo's pages join by invitation: their stored invitation survives a reload, and each page stores its own."""

import unittest
from pathlib import Path

from browser import BrowserCase
from demo_case import DemoCase
from demo_server import DemoServer
from page_server import PageServer

TABLE = Path(__file__).resolve().parents[2] / "protocol/routes/demo.json"
# A page that is invited. It tells its shell which client it is, after each load. Its query names the bridge whose invitations it accepts.
GUEST = """<!doctype html><title>guest</title><script type="module">
import { Bridge } from "/bridge/bridge.js";
const bridge = new Bridge({ bridges: [decodeURIComponent(location.search.slice(1))] });
bridge.ready.then(({ session, client, page }) => parent.postMessage([session, client, page], "*"), (error) => parent.postMessage(error.message, "*"));
</script>"""
# The shell opens a page in a frame, changes its own history, and reloads the frame. Returns what the guest has told before and after that.
SHELL = """
  const [url, change] = arguments;
  const { Bridge } = await import("/bridge/bridge.js");
  const shell = new Bridge({ url, hosts: { native: { open: () => {}, close: () => {} } } });
  const { opened } = await new Promise((onProgress) => shell.open("native://home", {}, { onProgress }));
  const load = (action) => new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data), { once: true });
    setTimeout(() => resolve("the guest has no session"), 20000);
    action();
  });
  const frame = document.createElement("iframe");
  frame.src = await shell.invite(`/guest.html?${encodeURIComponent(url)}`, { page: opened.page });
  const first = await load(() => document.body.append(frame));
  await new Promise((resolve) => {
    addEventListener("popstate", resolve, { once: true });
    if (!eval(change)) resolve();
  });
  const second = await load(() => frame.contentWindow.location.reload());
  const third = await load(() => frame.contentWindow.location.reload());
  await shell.close();
  return [first, second, third];
"""
# What shells do with their history: the last value of each is whether `popstate` follows.
CHANGES = {
    "a step forward": "history.pushState({ depth: 1 }, ''); false",
    "two steps forward": "history.pushState({ depth: 1 }, ''); history.pushState({ depth: 2 }, '', '#two'); false",
    "another state": "history.replaceState({ depth: 0 }, ''); false",
    "a step forward and back": "history.pushState({ depth: 1 }, ''); history.back(); true",
}

SHOP = "/demo/pages/shop.html"


class InvitationsTest(DemoCase):
    def reload(self, router=""):
        """Reloads the document of the frame, after a script; the switch to the frame has to be repeated."""
        self.driver.execute_script("window.isOld = true; " + router)
        self.driver.execute_script("setTimeout(() => location.reload(), 0)")

    def wait_for_reload(self):
        self.phone.wait(
            lambda: self.driver.execute_script("return !window.isOld && document.readyState") == "complete",
            "the next load",
        )
        self.phone.find("#main")

    def open_review(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Write a review").click()
        self.phone.surface("review.html")

    def test_invitation_is_removed_from_url(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Share this mug")
            self.assertEqual(
                self.driver.execute_script("return location.href"), f"{self.server.address}{SHOP}"
            )
            self.assertFalse(self.phone.find("#main").find_elements("css selector", "#alone:not([hidden])"))

    def test_reloaded_page_stays_in_the_app(self):
        self.open_shop()
        for router in ("", "history.pushState({ own: 1 }, '', '?sorted'); history.replaceState(null, '', '?by=price')"):
            with self.phone.web("shop.html"):
                self.reload(router)
                self.wait_for_reload()
                self.phone.button("Choose an address").click()
            self.phone.press("native://address/list", "Studio")
            with self.phone.web("shop.html"):
                self.assertEqual(self.phone.settled(), "Studio, Quay 4, Loft 2, Bergen")
        self.phone.wait_for_stack(SHOP, "native://home")

    def test_two_reloaded_frames_keep_their_own_pages(self):
        self.open_review()
        frames = self.driver.find_elements("css selector", ".surface iframe[title]")
        self.assertEqual(len([frame for frame in frames if "pages/" in frame.get_attribute("src")]), 2)
        for frame in frames:
            if "pages/" in frame.get_attribute("src"):
                self.driver.switch_to.frame(frame)
                self.reload()
                self.driver.switch_to.default_content()
        with self.phone.web("review.html"):
            self.wait_for_reload()
            # Without a page it finishes its own page.
            self.phone.button("Send review").click()
        self.phone.wait_for_stack(SHOP, "native://home")
        with self.phone.web("shop.html"):
            self.wait_for_reload()
            self.phone.button("Close page").click()
        self.phone.wait_for_stack("native://home")
        self.assertEqual(self.phone.result("native://home"), "closed itself")

    def test_reloaded_shell_invites_its_pages_again(self):
        self.open_review()
        self.driver.execute_script("window.isOld = true; location.reload()")
        self.phone.wait(lambda: self.driver.execute_script("return !window.isOld"), "the next load")
        self.phone.wait_for_stack("/demo/pages/review.html", SHOP, "native://home")
        with self.phone.web("review.html"):
            self.phone.button("Send review").click()
        with self.phone.web("shop.html"):
            self.assertIn("★★★★", self.phone.settled())


class ShellHistoryTest(BrowserCase):
    size = (800, 600)

    def test_reloaded_guest_keeps_its_session_after_history_changes_of_shell(self):
        pages = PageServer({"/": "<!doctype html><title>shell</title>", "/guest.html": GUEST})
        self.addCleanup(pages.stop)
        server = DemoServer(arguments=("serve", "--table", str(TABLE), "--allow-origin", pages.origin))
        self.addCleanup(server.stop)
        for name, change in CHANGES.items():
            with self.subTest(name):
                self.driver.open_tab(self.size)
                self.driver.get(f"{pages.origin}/")
                first, *later = self.driver.execute_script(SHELL, f"ws://127.0.0.1:{server.port}/bridge", change)
                self.assertEqual([str] * 3, [type(each) for each in first], first)
                self.assertEqual([first] * 2, later)


if __name__ == "__main__":
    unittest.main()
