"""The panels next to the phone, and what happens when a client of the session leaves."""

import unittest

from selenium.webdriver.common.by import By

from demo_case import DemoCase

SHOP = "/demo/pages/shop.html"

# Changes the text of a button again and again, and counts how often it is pressed.
CHANGING_TEXT = """
  const { write } = await import("/demo/shared/dom.js");
  const button = document.getElementById("clear");
  window.presses = 0;
  button.addEventListener("click", () => (presses += 1));
  let changes = 0;
  const change = () => {
    changes += 1;
    write(button, `Clear ${changes}`);
    setTimeout(change, 0);
  };
  change();
"""


class WorkbenchTest(DemoCase):
    def test_lost_flutter_connection_fails_only_its_pages(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        self.phone.wait_for_stack("flutter://profile/7", SHOP, "native://home")
        self.phone.button("Disconnect Flutter").click()
        with self.phone.web("shop.html"):
            self.assertRegex(self.phone.settled(), r"^failed · 2504 ")
        self.phone.wait_for_stack(SHOP, "native://home")
        self.screenshot("flutter-cut")

        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
            self.phone.wait(lambda: self.phone.settled().startswith("2504 "), "the error 2504")
            self.phone.button("Choose an address").click()
        self.phone.press("native://address/list", "Home")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "Home, 12 Larch Lane, Bergen")

        self.phone.button("Restart Flutter").click()
        self.phone.wait(
            lambda: self.phone.find("#engine").text == "Flutter: connected", "the new Flutter view"
        )
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "you follow Mira Holm")

    def test_inspector_link_opens_current_session(self):
        session = self.phone.find("#connection[data-state=connected]").text.removeprefix("Session ")
        home = self.driver.current_window_handle
        link = self.phone.find("#inspector")
        self.phone.wait(link.is_displayed, "the link to the inspector")
        address = link.get_attribute("href")
        self.driver.switch_to.new_window("tab")
        self.addCleanup(self.driver.switch_to.window, home)
        self.addCleanup(self.driver.close)
        self.driver.get(address)
        self.phone.find("#state[data-state=open]")
        self.assertIn("native://home", self.phone.find("#stack .uri").text)
        self.phone.find(f"#sessions [data-session='{session}'][aria-selected=true]")

    def test_lost_flutter_page_beneath_others_keeps_them(self):
        self.phone.press("native://home", "Mira")
        with self.phone.flutter():
            self.phone.button("Meet somewhere", self.phone.flutter_page("Profile")).click()
        self.phone.surface("native://address/list")
        self.phone.button("Disconnect Flutter").click()
        self.phone.wait_for_stack("native://address/list", "native://home")
        self.phone.press("native://address/list", "Back")
        self.assertRegex(self.phone.result("native://home"), r"^failed · 2504 ")

    def test_messages_of_all_three_clients_are_shown(self):
        self.open_shop()
        with self.phone.web("shop.html"):
            self.phone.button("Who made it?").click()
        self.phone.wait_for_stack("flutter://profile/7", SHOP, "native://home")
        with self.phone.flutter():
            self.phone.button("Follow", self.phone.flutter_page("Profile")).click()
        with self.phone.web("shop.html"):
            self.phone.settled()
        for message in (
            ["shell", "out", "session.open", "result"],
            ["shell", "out", "router.open", "request"],
            ["flutter", "in", "page.open", "result"],
            ["flutter", "out", "navigation.finish", "result"],
            ["web", "out", "router.open", "result"],
        ):
            self.phone.wait(lambda: message in self.phone.messages(), str(message))

    def test_message_shows_json_without_session_secrets(self):
        self.phone.find("#messages .start summary").click()
        first = self.driver.find_elements(By.CSS_SELECTOR, "#messages .message")[-1]
        self.assertEqual(first.find_element(By.CSS_SELECTOR, ".message-title").text, "session.open")
        first.find_element(By.TAG_NAME, "summary").click()
        body = self.phone.find("figure:last-child pre", first)
        self.assertRegex(body.text, r'"joinToken": ".{4}…"')
        self.screenshot("message-open")

    def test_messages_can_be_paused_and_cleared(self):
        self.phone.button("Pause").click()
        self.phone.button("Clear").click()
        self.open_shop()
        self.assertEqual(self.phone.messages(), [])
        self.phone.wait(lambda: "missed" in self.phone.find("#pause").text, "the count")
        self.phone.find("#pause").click()
        self.phone.press("shop.html", "Back")
        self.phone.wait(lambda: self.phone.messages(), "messages")

    def test_button_can_be_pressed_while_its_text_changes(self):
        self.driver.execute_script(CHANGING_TEXT)
        button = self.phone.find("#clear")
        for _ in range(20):
            button.click()
        self.assertEqual(self.driver.execute_script("return presses"), 20)

    def test_startup_messages_are_collapsed(self):
        start = self.phone.find("#messages .start")
        self.assertRegex(start.text, r"^Start-up \d+ exchanges in [\d.]+ m?s")
        self.assertEqual(self.phone.messages()[-1][2], "session.open")
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "#messages > li:not(.start):not(.housekeeping)"), [])

    def test_response_is_in_row_of_its_request(self):
        self.phone.press("native://home", "Server time")
        self.phone.result("native://home")
        row = self.phone.open_row("router.invoke")
        self.assertEqual(row.get_attribute("data-kind"), "result")
        self.assertRegex(row.find_element(By.CSS_SELECTOR, ".message-time").text, r"^\d+ ms$")
        self.phone.wait(lambda: "serverTime" in row.text, "the answer")
        captions = [caption.text for caption in row.find_elements(By.CSS_SELECTOR, "figcaption")]
        self.assertEqual(captions[-2:], ["Request", "Response"])

    def test_housekeeping_messages_are_shown_on_demand(self):
        self.open_shop()
        hidden = self.driver.find_elements(By.CSS_SELECTOR, "#messages > .housekeeping")
        self.assertGreater(len(hidden), 0)
        self.assertFalse(hidden[0].is_displayed())
        self.phone.find("#with-all").click()
        self.assertTrue(hidden[0].is_displayed())

    def test_every_control_has_an_accessible_name(self):
        self.open_shop()
        self.phone.open_row("page.open")
        shown = self.driver.execute_script(
            """return [...document.querySelectorAll("button, input, summary, a[href], [tabindex='0'], iframe")]
                 .filter((each) => each.checkVisibility({ visibilityProperty: true }))"""
        )
        self.assertGreater(len(shown), 20)
        self.assertEqual([each.get_attribute("outerHTML") for each in shown if not each.accessible_name], [])

    def calls(self):
        """The calls as (from, to, what, state)."""
        return self.driver.execute_script(
            """return [...document.querySelectorAll("#calls li")].map((call) => [
                 ...[...call.querySelectorAll(".chip")].map((chip) => chip.textContent),
                 call.querySelector(".call-what").textContent, call.dataset.state])"""
        )

    def test_call_diagram_shows_caller_and_target(self):
        self.open_shop()
        self.assertEqual(self.calls(), [["native", "web", SHOP, "running"]])
        for button, party, uri in (
            ("Who made it?", "flutter", "flutter://profile/7"),
            ("Choose an address", "native", "native://address/list"),
            ("Share this mug", "swift", "action://share"),
        ):
            with self.phone.web("shop.html"):
                self.phone.button(button).click()
            self.phone.wait(lambda: self.calls()[0] == ["web", party, uri, "running"], f"the call of {uri}: {self.calls()}")
            self.phone.wait_for_stack(*([uri] if party != "swift" else ["native://share/sheet"]), SHOP, "native://home")
            if party != "swift":
                waiting = self.phone.find(f"#stack [data-technology='{party}'] .stack-awaited").text
                self.assertEqual(waiting, "· awaited by web")
            self.driver.execute_script("history.back()")
            self.phone.surface("shop.html")
            self.phone.wait(lambda: ["web", party, uri, "result"] in self.calls(), "its end")

    def test_at_most_200_messages_are_kept(self):
        self.phone.press("native://home", "Outfitters")
        with self.phone.web("shop.html"):
            self.driver.execute_script(
                """const { report } = await import("../shared/frame.js");
                   for (let id = 0; id < 300; id += 1) {
                     report({ demo: "message", direction: "out", text: JSON.stringify({ id, method: "m" }) });
                   }"""
            )
        self.phone.wait(lambda: len(self.phone.messages()) == 200, "200 messages")


if __name__ == "__main__":
    unittest.main()
