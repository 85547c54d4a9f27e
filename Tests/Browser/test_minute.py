"""The first minute: three steps, in which a call lives through a reload of its page and through the end of the server."""

import os
import tempfile
import unittest
from unittest import mock

from selenium.webdriver.common.keys import Keys

from demo_case import DemoCase
from demo_server import DemoServer
from firefox import Firefox

SHOP = "/demo/pages/shop.html"
LIST = "native://address/list"
STUDIO = "Studio, Quay 4, Loft 2, Bergen"


class MinuteCase(DemoCase):
    server_ends = True

    def session(self):
        return self.phone.find("#connection[data-state=connected]").text

    def step(self):
        """The step that is due, and what is said of all."""
        status = self.phone.find("#steps-status").text
        due = self.driver.find_elements("css selector", "#steps [aria-current=step] h3")
        return due[0].text if due else None, status

    def wait_for_step(self, title, status):
        self.phone.wait(lambda: self.step() == (title, status), f"{title}; there is {self.step()}")

    def ask(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.surface(LIST)

    def words(self):
        """What the newest call of a web page says that it has lived through."""
        rows = self.driver.find_elements("css selector", "#messages .message")
        calls = [row for row in rows if row.is_displayed() and row.text.startswith("web") and "router.open" in row.text]
        return calls[0].find_elements("css selector", ".message-words")[0].text if calls else ""

    def answer(self):
        self.phone.press(LIST, "Studio")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), STUDIO)

    def kill(self):
        """Kills the server by the button, and waits until it is back."""
        self.phone.find("#kill[aria-disabled=false]").click()
        self.phone.note("Killing the server, process ")
        self.phone.note("The server was restarted; the session goes on")
        self.phone.wait(lambda: self.driver.find_elements("css selector", "#kill[aria-disabled=false]"), "the next chance")


class MinuteTest(MinuteCase):
    def test_a_call_lives_through_a_reload_and_a_killed_server(self):
        session = self.session()
        self.wait_for_step("A web page asks", "Step 1 of 3")
        self.screenshot("minute-1")
        self.assertEqual(self.phone.find("#reload-page").get_attribute("aria-disabled"), "true")
        self.ask()
        self.wait_for_step("Break it while it waits", "Step 2 of 3")
        self.screenshot("minute-2")

        self.phone.find("#reload-page[aria-disabled=false]").click()
        self.phone.wait(lambda: self.words() == "The page was loaded again; its session.resume took this call up, and it goes on.", "the reload")
        self.wait_for_step("Answer it", "Step 3 of 3")
        self.screenshot("minute-reloaded")
        self.kill()
        self.phone.wait(lambda: "The server was killed; it had this call on its disk" in self.words(), "the restart")
        self.assertEqual(self.session(), session)
        newest = self.driver.find_elements("css selector", "#messages > li:not(.housekeeping)")[:3]
        self.assertTrue(any("it had this call on its disk" in row.text for row in newest), "what brought it through is among the newest")
        self.phone.note("goes on with 3 pages and 2 waiting calls.")
        self.phone.wait_for_stack(LIST, SHOP, "native://home")
        self.screenshot("minute-killed")

        self.answer()
        self.phone.wait(lambda: self.step()[0] is None, "the end")
        self.assertRegex(self.step()[1], r"^Done: the call waited [\d.]+ s, outlived what you broke, and was answered once\.$")
        self.screenshot("minute-done")

    def test_a_server_can_be_killed_again_and_again(self):
        session = self.session()
        self.ask()
        for _ in range(3):
            self.kill()
            self.phone.button("Clear").click()
            self.assertEqual(self.session(), session)
        self.answer()

    def test_when_all_is_loaded_again_the_call_is_told_anew(self):
        self.ask()
        self.driver.refresh()
        self.phone.surface(LIST)
        self.phone.wait(lambda: "session.resume took this call up" in self.words(), "the call")
        self.answer()

    def test_a_call_without_a_break_is_no_end_of_the_steps(self):
        self.ask()
        self.answer()
        self.wait_for_step("A web page asks", "Step 1 of 3")


class FirefoxMinuteTest(MinuteTest):
    browser = Firefox
    # One walk is enough to see what differs there.
    test_when_all_is_loaded_again_the_call_is_told_anew = None
    test_a_server_can_be_killed_again_and_again = None
    test_a_call_without_a_break_is_no_end_of_the_steps = None


class PhoneMinuteTest(MinuteCase):
    size = (390, 844)

    def test_the_steps_are_gone_on_a_phone(self):
        self.assertEqual(len([item for item in self.driver.find_elements("css selector", "#steps li") if item.is_displayed()]), 1)
        self.ask()
        self.screenshot("minute-phone-2")
        self.assertEqual(self.phone.overflow(), [])
        self.kill()
        self.screenshot("minute-phone-killed")
        self.wait_for_step("Answer it", "Step 3 of 3")
        self.answer()
        self.phone.wait(lambda: self.step()[0] is None, "the end")


class RestartTest(MinuteCase):
    def test_the_cart_and_the_login_are_kept(self):
        self.phone.tab("Me")
        with self.phone.flutter():
            self.phone.button("Log in", self.phone.flutter_page("Me")).click()
        self.phone.press("native://login", "Log in")
        with self.phone.flutter():
            self.phone.wait(lambda: "Mira Holm" in self.phone.flutter_page("Me").text, "the login")
        count = "return (await import('/demo/workbench.js')).shell.bridge.invoke(arguments[0], arguments[1] ?? {})"
        self.assertEqual(self.driver.execute_script(count, "action://cart/add", {"sku": "trail-mug"})["count"], 1)
        self.kill()
        self.assertEqual(self.driver.execute_script(count, "action://cart/contents")["count"], 1)
        self.assertEqual(self.driver.execute_script(count, "action://user")["name"], "Mira Holm")

    def test_what_is_lost_is_said(self):
        self.driver.find_element("css selector", "#repair [value=error]").click()
        self.phone.note("The table is")
        # The call of a task has no key, unlike that of a page.
        self.phone.press("native://home", "Share this app")
        self.phone.surface("native://share/sheet")
        self.kill()
        self.phone.note("Lost: the repair that made addresses error. The server has read its table from the file again.")
        self.phone.wait_for_stack("native://share/sheet", "native://home")
        rows = self.driver.find_elements("css selector", "#messages .message[data-kind=error]")
        self.assertEqual(len(rows), 1)
        self.phone.note("the session goes on with 2 pages.")
        self.assertIn("2599", rows[0].find_element("css selector", ".message-kind").text)
        self.assertIn("This call had no key", rows[0].find_element("css selector", ".message-words").text)
        self.screenshot("minute-lost")

    def test_it_is_killed_by_key_and_the_focus_stays(self):
        self.driver.execute_script("document.getElementById('kill').focus()")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.phone.note("The server was restarted; the session goes on with one page.")
        self.assertEqual(self.driver.switch_to.active_element.get_attribute("id"), "kill")

    def test_a_guest_of_the_workbench_may_not(self):
        told = self.driver.execute_script(
            """const { Bridge } = await import("/bridge/bridge.js");
               const { shell } = await import("/demo/workbench.js");
               const join = await shell.bridge.request("session.invite");
               const bridge = new Bridge({ join, keep: "nothing" });
               const told = [(await bridge.invoke("demo://features")).restart];
               await bridge.invoke("demo://restart").catch((error) => told.push(`${error.code} ${error.message}`));
               await bridge.close();
               return told;"""
        )
        self.assertEqual(told, [False, "1403 Only the demo's own workbench restarts its server"])


class FolderTest(unittest.TestCase):
    def test_a_demo_leaves_no_folder_behind(self):
        with tempfile.TemporaryDirectory() as parent, mock.patch.dict(os.environ, TMPDIR=parent):
            server = DemoServer()
            self.assertEqual(len(os.listdir(parent)), 1)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(os.listdir(parent), [])

    def test_a_folder_that_is_named_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            server = DemoServer(arguments=("demo", "--data", folder))
            self.assertEqual(server.stop(), 0)
            self.assertNotEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
