"""Pages that are loaded again go on where they were, the shell with all its pages included."""

import tempfile
import unittest
from pathlib import Path

from demo_case import DemoCase
from demo_server import DemoServer
from firefox import Firefox

SHOP = "/demo/pages/shop.html"
LIST = "native://address/list"
PROFILE = "flutter://profile/7"
ROOT = Path(__file__).resolve().parents[2]
STUDIO = "Studio, Quay 4, Loft 2, Bergen"


class ReloadCase(DemoCase):
    def session(self):
        return self.phone.find("#connection[data-state=connected]").text

    def reload(self):
        """Loads the whole demo anew: the shell, and with it every frame."""
        self.driver.execute_script("window.isOld = true; location.reload()")
        self.phone.wait(
            lambda: self.driver.execute_script("return !window.isOld && document.readyState") == "complete",
            "the next load",
        )

    def reload_shop(self):
        """Loads the shop anew, whatever lies over it."""
        frames = self.driver.find_elements("css selector", f".surface[data-uri*='{SHOP}'] iframe")
        self.driver.switch_to.frame(frames[0])
        self.driver.execute_script("window.isOld = true; setTimeout(() => location.reload(), 0)")
        self.phone.wait(
            lambda: self.driver.execute_script("return !window.isOld && document.readyState") == "complete",
            "the next load",
        )
        self.driver.switch_to.default_content()

    def choose(self, button):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button(button).click()

    def pick(self):
        self.phone.press(LIST, "Studio")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), STUDIO)


class ReloadTest(ReloadCase):
    def test_the_opener_is_loaded_again_before_the_pick(self):
        self.choose("Choose an address")
        self.phone.surface(LIST)
        for _ in range(2):
            self.reload_shop()
        self.pick()

    def test_all_is_loaded_again_and_nothing_is_lost(self):
        session = self.session()
        self.choose("Choose an address")
        self.phone.surface(LIST)
        for _ in range(2):
            self.reload()
            self.phone.wait_for_stack(LIST, SHOP, "native://home")
            self.assertEqual(self.session(), session)
        self.pick()
        with self.phone.web("shop.html"):
            self.phone.button("Close page").click()
        self.phone.wait_for_stack("native://home")
        self.assertEqual(self.phone.result("native://home"), "closed itself")

    def test_the_flutter_view_shows_its_pages_again(self):
        self.choose("Who made it?")
        with self.phone.flutter():
            self.phone.flutter_page("Profile")
        self.reload()
        self.phone.wait_for_stack(PROFILE, SHOP, "native://home")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "you follow Mira Holm")


class TabsTest(ReloadCase):
    def test_two_tabs_have_a_session_each(self):
        session = self.session()
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.driver.show(self.size, self.dark)
        self.driver.get(f"{self.server.address}/demo/")
        self.phone.surface("native://home")
        self.assertNotEqual(self.session(), session)
        self.driver.close()
        self.driver.switch_to.window(first)
        self.assertEqual(self.session(), session)


class RestartCase(ReloadCase):
    server_ends = True

    def restart(self, end):
        end()
        type(self).server = DemoServer(self.server.port, self.command)
        self.addClassCleanup(self.server.stop)

    def note(self):
        """What is said of it beside the phone, which is said in front of it too."""
        text = self.phone.note("session")
        self.phone.toast(text)
        return text


class RestartTest(RestartCase):
    def test_what_a_restart_has_cost_is_said(self):
        self.choose("Choose an address")
        self.phone.surface(LIST)
        self.restart(self.server.stop)
        self.phone.wait_for_stack("native://home")
        note = self.note()
        self.assertIn("does not know this client any more", note)
        self.assertIn("3 pages", note)

    def test_what_became_of_its_calls_is_said(self):
        session = self.session()
        self.phone.press("native://home", "Addresses")
        self.phone.surface(LIST)
        self.restart(self.server.crash)
        self.phone.wait_for_stack("native://home")
        self.assertNotEqual(self.session(), session)
        note = self.note()
        self.assertIn("a new session has begun; gone: 2 pages and one call.", note)
        self.assertIn(f"Nobody knows whether these were carried out: {LIST}.", note)
        self.phone.settle()
        self.screenshot("restart-lost")
        self.assertEqual(self.phone.overflow(), [], "the note is too wide")


class KeptSessionTest(RestartCase):
    """A server that keeps its sessions serves what the demo does."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        table, web = str(ROOT / "protocol/routes/demo.json"), str(ROOT / "web")
        cls.command = ("serve", "--data", folder.name, "--drain", "0", "--table", table, "--web", web)
        super().setUpClass()

    def test_a_result_comes_over_a_crash_and_a_restart(self):
        session = self.session()
        self.choose("Choose an address")
        self.phone.surface(LIST)
        for end in ("crash", "stop"):
            self.restart(getattr(self.server, end))
            self.assertEqual(self.note(), "The server was restarted; the session goes on with 3 pages and 2 waiting calls.")
            self.phone.button("Clear").click()
            self.phone.wait_for_stack(LIST, SHOP, "native://home")
            self.assertEqual(self.session(), session)
        self.phone.settle()
        self.screenshot("restart-kept")
        self.pick()


class FirefoxReloadTest(ReloadTest):
    browser = Firefox


if __name__ == "__main__":
    unittest.main()
