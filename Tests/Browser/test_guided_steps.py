"""The guided steps: three steps in which a call survives a reload of its page and a kill of the server."""

import os
import tempfile
import unittest
from unittest import mock

from selenium.webdriver.common.keys import Keys

from demo_case import DemoCase
from demo_server import DemoServer

SHOP = "/demo/pages/shop.html"
LIST = "native://address/list"
# Whether an element is visible without scrolling.
IN_WINDOW = """
  const { left, top, width, height } = arguments[0].getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  return y < innerHeight && arguments[0].contains(document.elementFromPoint(x, y));
"""
STUDIO = "Studio, Quay 4, Loft 2, Bergen"


class StepsCase(DemoCase):
    server_ends = True

    def session(self):
        return self.phone.find("#connection[data-state=connected]").text

    def step(self):
        """The current step, and the texts of all steps."""
        status = self.phone.find("#steps-status").text
        due = self.driver.find_elements("css selector", "#steps [aria-current=step] h3")
        return due[0].text if due else None, status

    def wait_for_step(self, title, status):
        self.phone.wait(lambda: self.step() == (title, status), f"{title}; there is {self.step()}")

    def request_address(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Choose an address").click()
        self.phone.surface(LIST)

    def call_notes(self):
        """The notes on the newest call of a web page: the failures that it has survived."""
        return self.phone.row("router.open", "web").find_element("css selector", ".message-words").text

    def choose_address(self):
        self.phone.press(LIST, "Studio")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), STUDIO)

    def kill(self):
        """Kills the server with the button, and waits until it is back."""
        self.phone.find("#kill[aria-disabled=false]").click()
        self.phone.note("Killing the server, process ")
        self.phone.note("The server was restarted; the session continues")
        self.phone.wait(lambda: self.driver.find_elements("css selector", "#kill[aria-disabled=false]"), "the next chance")


class StepsTest(StepsCase):
    def test_call_survives_page_reload_and_server_kill(self):
        session = self.session()
        self.wait_for_step("Call native from web", "Step 1 of 3")
        self.screenshot("minute-1")
        self.assertEqual(self.phone.find("#reload-page").get_attribute("aria-disabled"), "true")
        self.request_address()
        self.wait_for_step("Interrupt the call", "Step 2 of 3")
        self.screenshot("minute-2")

        self.phone.find("#reload-page[aria-disabled=false]").click()
        self.phone.wait(lambda: self.call_notes() == "The page was reloaded. Its session.resume restored this call, which continues.", "the reload")
        self.wait_for_step("Return the result", "Step 3 of 3")
        self.screenshot("minute-reloaded")
        self.kill()
        self.phone.wait(lambda: "The server was killed. It had persisted this call" in self.call_notes(), "the restart")
        self.assertEqual(self.session(), session)
        newest = self.driver.find_elements("css selector", "#messages > li:not(.housekeeping)")[:3]
        self.assertTrue(any("It had persisted this call" in row.text for row in newest), "what brought it through is among the newest")
        self.phone.note("continues with 3 pages and 2 waiting calls.")
        self.phone.wait_for_stack(LIST, SHOP, "native://home")
        self.screenshot("minute-killed")

        self.choose_address()
        self.phone.wait(lambda: self.step()[0] is None, "the end")
        self.assertRegex(self.step()[1], r"^Done: the call waited [\d.]+ s, survived the interruption, and received one result\.$")
        self.screenshot("minute-done")

    def finish(self):
        self.request_address()
        self.phone.find("#reload-page[aria-disabled=false]").click()
        self.phone.wait(lambda: "session.resume" in self.call_notes(), "the reload")
        self.choose_address()
        self.phone.wait(lambda: self.step()[0] is None, "the end")

    def pointed(self):
        return self.driver.execute_script("return document.querySelector('.pointed')?.textContent ?? ''")

    def suggest(self, value, text):
        self.phone.find(f"#next button[value={value}]").click()
        self.phone.wait(lambda: text in self.pointed(), f"the highlight of {text}")
        self.assertRegex(self.phone.find("#next-text").text, "^Press .* Watch ")

    def test_last_step_suggests_what_to_try_next(self):
        self.assertFalse(self.driver.find_element("id", "next").is_displayed())
        self.finish()
        chips = [chip.text for chip in self.driver.find_elements("css selector", ".next-chips > :not(h3)")]
        self.assertEqual(chips, ["Login hold", "Table switch", "Flutter", "Leave guard", "Live parameter", "Photo", "Inspector"])
        self.suggest("login", "My orders")
        self.screenshot("minute-next")
        self.phone.press("native://discover", "My orders")
        self.phone.press("native://login", "Log in")
        self.phone.surface("native://orders")
        self.assertEqual(self.pointed(), "")
        self.suggest("table", "native://address/list")
        self.suggest("flutter", "Counter")
        self.phone.press("native://home", "Counter")
        self.phone.wait_for_stack("flutter://counter", "native://home")
        link = self.phone.find("#next-inspector")
        self.assertTrue(link.get_attribute("href").endswith(f"session={self.session().removeprefix('Session ')}"))

    def test_session_survives_repeated_server_kills(self):
        session = self.session()
        self.request_address()
        for _ in range(3):
            self.kill()
            self.phone.button("Clear").click()
            self.assertEqual(self.session(), session)
        self.choose_address()

    def test_reloaded_workbench_shows_pending_call_again(self):
        self.request_address()
        self.driver.refresh()
        self.phone.surface(LIST)
        self.phone.wait(lambda: "session.resume restored this call" in self.call_notes(), "the call")
        self.choose_address()

    def test_uninterrupted_call_does_not_complete_the_steps(self):
        self.request_address()
        self.choose_address()
        self.wait_for_step("Call native from web", "Step 1 of 3")


class PhoneStepsTest(StepsCase):
    size = (390, 844)

    def test_steps_can_be_completed_on_a_phone(self):
        self.assertEqual(len([item for item in self.driver.find_elements("css selector", "#steps li") if item.is_displayed()]), 1)
        self.assertTrue(self.driver.execute_script(IN_WINDOW, self.phone.button("Outfitters")))
        self.open_shop()
        frame = self.phone.surface("shop.html").find_element("css selector", "iframe")
        self.assertLess(self.driver.execute_script("return arguments[0].getBoundingClientRect().bottom", frame), 844)
        with self.phone.web("shop.html"):
            self.assertTrue(self.driver.execute_script(IN_WINDOW, self.phone.button("Choose an address")))
        self.phone.press("shop.html", "Back")
        self.phone.surface("native://home")
        self.request_address()
        self.screenshot("minute-phone-2")
        self.assertEqual(self.phone.overflow(), [])
        self.kill()
        self.screenshot("minute-phone-killed")
        self.wait_for_step("Return the result", "Step 3 of 3")
        self.choose_address()
        self.phone.wait(lambda: self.step()[0] is None, "the end")
        within = """const { top, bottom } = document.querySelector(".result").getBoundingClientRect(); return top >= 0 && bottom <= innerHeight"""
        with self.phone.web("shop.html"):
            self.phone.wait(lambda: self.driver.execute_script(within), "the result in view")


class RestartTest(StepsCase):
    def test_cart_and_login_survive_server_kill(self):
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

    def test_lost_state_is_reported_after_server_kill(self):
        self.driver.find_element("css selector", "#repair [value=error]").click()
        self.phone.note("The route table has version")
        # The call of a task has no key, unlike that of a page.
        self.phone.press("native://home", "Share this app")
        self.phone.surface("native://share/sheet")
        self.kill()
        self.phone.note("The change of the address page to “error” is lost: the restarted server has read the route table from its file.")
        self.phone.wait_for_stack("native://share/sheet", "native://home")
        self.phone.note("the session continues with 2 pages.")
        rows = self.driver.find_elements("css selector", "#messages .message[data-kind=error]")
        self.assertEqual(len(rows), 1)
        self.assertIn("2599", rows[0].find_element("css selector", ".message-kind").text)
        self.assertIn("This call had no idempotency key", rows[0].find_element("css selector", ".message-words").text)
        self.screenshot("minute-lost")

    def test_kill_by_keyboard_keeps_focus(self):
        self.driver.execute_script("document.getElementById('kill').focus()")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.phone.note("The server was restarted; the session continues with one page.")
        self.assertEqual(self.driver.switch_to.active_element.get_attribute("id"), "kill")

    def test_guest_cannot_restart_server(self):
        results = self.driver.execute_script(
            """const { Bridge } = await import("/bridge/bridge.js");
               const { shell } = await import("/demo/workbench.js");
               const join = await shell.bridge.request("session.invite");
               const bridge = new Bridge({ join, keep: "nothing" });
               const told = [(await bridge.invoke("demo://features")).restart];
               await bridge.invoke("demo://restart").catch((error) => told.push(`${error.code} ${error.message}`));
               await bridge.close();
               return told;"""
        )
        self.assertEqual(results, [False, "1403 Only the demo's own workbench restarts its server"])


class FolderTest(unittest.TestCase):
    def test_demo_removes_its_temporary_folder(self):
        with tempfile.TemporaryDirectory() as parent, mock.patch.dict(os.environ, TMPDIR=parent):
            server = DemoServer()
            self.assertEqual(len(os.listdir(parent)), 1)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(os.listdir(parent), [])

    def test_named_data_folder_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            server = DemoServer(arguments=("demo", "--data", folder))
            self.assertEqual(server.stop(), 0)
            self.assertNotEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
