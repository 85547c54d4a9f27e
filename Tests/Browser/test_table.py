"""The table while the app runs: every route opens, its topics are published, and a change of the table alone repairs a page."""

import json
import unittest
from pathlib import Path

from selenium.webdriver.common.by import By

from demo_case import DemoCase

TABLE = json.loads((Path(__file__).resolve().parents[2] / "protocol/routes/demo.json").read_text())
DIRECTORY = "native://directory"
LIST = "native://address/list"
WEB = "https://m.shop.example/address/list"
TABS = {"home", "discover", "me"}


class RoutesTest(DemoCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.phone.tab("Discover")
        self.phone.press("native://discover", "All routes")
        self.phone.surface(DIRECTORY)

    def search(self, text):
        """Searches the directory; returns its rows, as (title, pattern) pairs."""
        field = self.phone.find(".search")
        field.clear()
        field.send_keys(text)
        return self.driver.execute_script(
            """return [...document.querySelectorAll("[data-uri='native://directory'] .row")].map((row) =>
                 [row.querySelector(".row-title").textContent, row.querySelector(".row-detail").textContent])"""
        )

    def test_directory_lists_and_searches_all_routes(self):
        first = [(route.get("pattern") or route["patterns"][0]) for route in TABLE["routes"]]
        self.assertGreater(len(first), 59)
        self.assertEqual(sorted(first), sorted(pattern for _, pattern in self.search("")))
        self.assertEqual([["Cart", "native://cart"]], self.search("what the user is about to buy"))
        self.assertEqual([], self.search("there is nothing of the kind"))
        self.screenshot("directory")

    def test_every_route_opens_with_valid_parameters(self):
        """Calls with the shell's own bridge, like a press on each row."""
        self.driver.set_script_timeout(120)
        outcomes = self.driver.execute_script(
            """const [tabs] = arguments;
               const { shell } = await import("/demo/workbench.js");
               const { sample, sampleCall } = await import("/demo/shared/sample.js");
               const { bridge } = shell;
               const told = {};
               // Who is asked, agrees: to log in, and to leave for another app.
               const agreeing = setInterval(async () => {
                 const { pages } = await bridge.stack();
                 const all = pages.flatMap(function inner(page) { return [page, ...(page.pages ?? []).flatMap(inner)]; });
                 const asked = all.find(({ route }) => route === "loginPage" || route === "handoff" || route === "shareSheet");
                 if (asked && asked.id !== mine) bridge.finish({ name: "Mira", opened: true, channel: "mail" }, { page: asked.id }).catch(() => {});
               }, 50);
               let mine;
               for (const route of shell.routes.filter(({ name }) => !tabs.includes(name))) {
                 const { uri, params } = sampleCall(route);
                 try {
                   if (route.kind !== "page") {
                     told[route.name] = JSON.stringify(await bridge.invoke(uri, params, { timeout: 8000 }));
                     continue;
                   }
                   const outcome = await new Promise((resolve, reject) => {
                     bridge.open(uri, params, {
                       timeout: 8000,
                       onProgress: ({ opened }) => { mine = opened.page; bridge.finish(route.result && sample(route.result), { page: mine }).catch(reject); },
                     }).then(resolve, reject);
                   });
                   told[route.name] = outcome.outcome;
                 } catch (error) {
                   told[route.name] = `${error.code} ${error.message}`;
                 }
               }
               clearInterval(agreeing);
               return told;""",
            sorted(TABS),
        )
        pages = {route["name"] for route in TABLE["routes"] if route["kind"] == "page"} - TABS
        self.assertEqual({name: "finished" for name in pages}, {name: outcomes[name] for name in pages})
        refused = {name: text for name, text in outcomes.items() if text and text[0].isdigit() and name not in pages}
        self.assertEqual({}, refused)

    def test_placeholder_page_shows_purpose_and_finishes_with_result(self):
        self.search("native://product/:sku")
        self.phone.find(".surface.top .row").click()
        page = self.phone.surface("native://product/trail-mug")
        self.assertIn("Shows one product", page.text)
        self.assertIn("trail-mug", page.text)
        self.phone.button("Shows a part", page).click()
        self.assertEqual('{"shown":"shown"}', self.phone.settled(page))
        self.screenshot("declared")
        self.phone.button("Finish with this", page).click()
        self.assertIn('{"action":"cart"', self.phone.result(DIRECTORY))

    def test_placeholder_pages_of_other_technologies_finish_with_result(self):
        for pattern, title, inside in (
            ("flutter://feed/:post", "Post", self.phone.flutter),
            ("https://m.shop.example/campaign/:id", "Campaign", lambda: self.phone.web("campaign")),
        ):
            self.search(pattern)
            self.phone.find(".surface.top .row").click()
            self.phone.wait(lambda: self.phone.stack()[0][1].startswith(pattern.split(":id")[0].split(":post")[0]), pattern)
            with inside():
                self.assertIn(title, self.phone.find("h1:not([inert] *)").text)
                self.phone.button("Finish with this", self.phone.find("main:not([inert] *)")).click()
            self.assertTrue(self.phone.result(DIRECTORY).startswith("{"))
        self.search("mini://coffee")
        self.phone.find(".surface.top .row").click()
        self.phone.press("mini://coffee", "Finish with this")
        self.assertIn('"items"', self.phone.result(DIRECTORY))

    def test_demo_url_opens_route_or_uri(self):
        self.driver.open_tab(self.size)
        self.driver.get(f"{self.server.address}/demo/#route=product")
        self.phone.wait_for_stack("native://product/trail-mug", "native://category/all", "native://home")
        self.driver.get(f"{self.server.address}/demo/#open=native%3A%2F%2Fcontacts%2Fa2")
        self.phone.surface("native://address/a2")
        self.assertEqual(f"{self.server.address}/demo/", self.driver.current_url)

    def test_cart_change_is_published_on_its_topic(self):
        self.phone.press(DIRECTORY, "Back")
        self.phone.press("native://discover", "Cart")
        page = self.phone.surface("native://cart")
        self.phone.button("Add a trail mug", page).click()
        self.phone.wait(lambda: "1 for 24.00 EUR" in page.text, "the cart")
        self.phone.wait(lambda: ["shell", "in", "event", "notification"] in self.phone.messages(), "the event")


class RepairTest(DemoCase):
    def tearDown(self):
        self.driver.switch_to.default_content()
        self.repair("native")
        super().tearDown()

    def repair(self, value):
        """Makes the addresses a `native`, a `web` or an `error` page."""
        self.phone.wait(lambda: self.phone.find("#repair").is_enabled(), "the control")
        field = self.driver.find_element(By.CSS_SELECTOR, f"#repair [value={value}]")
        if field.is_selected():
            return
        note = self.phone.find("#repair-note").text
        field.click()
        self.phone.wait(lambda: self.phone.find("#repair-note").text != note and field.is_selected(), value)

    def test_table_update_replaces_address_page_and_restores_it(self):
        self.phone.press("native://home", "Addresses")
        self.phone.wait_for_stack(LIST, "native://home")
        self.repair("web")
        self.screenshot("repair")
        # Open pages stay.
        self.phone.press(LIST, "Studio")
        self.assertEqual("Studio, Bergen", self.phone.result("native://home"))

        self.phone.press("native://home", "Addresses")
        self.phone.wait_for_stack(WEB, "native://home")
        with self.phone.web(WEB):
            self.screenshot("repair-web")
            self.phone.button("Grandmother").click()
        self.assertEqual("Grandmother, Voss", self.phone.result("native://home"))

        self.repair("error")
        self.phone.press("native://home", "Addresses")
        page = self.phone.surface("native://error")
        self.assertIn("being repaired", page.text)
        self.screenshot("repair-error")
        self.phone.button("Go back", page).click()
        self.assertEqual("dismissed", self.phone.result("native://home"))

        self.repair("native")
        self.phone.press("native://home", "Addresses")
        self.phone.press(LIST, "Home")
        self.assertEqual("Home, Bergen", self.phone.result("native://home"))

    def test_address_page_can_be_reset(self):
        self.assertIn("for all clients of this server", self.phone.find("#repair-purpose").text)
        reset = self.phone.find("#repair-reset")
        self.phone.wait(lambda: self.phone.find("#repair").is_enabled(), "the control")
        self.assertEqual(reset.get_attribute("aria-disabled"), "true")
        self.repair("error")
        self.phone.wait(lambda: reset.get_attribute("aria-disabled") == "false", "the reset")
        reset.click()
        native = self.driver.find_element(By.CSS_SELECTOR, "#repair [value=native]")
        self.phone.wait(lambda: native.is_selected() and reset.get_attribute("aria-disabled") == "true", "the native page")
        self.assertEqual(self.driver.switch_to.active_element, reset)
        self.phone.press("native://home", "Addresses")
        self.phone.surface(LIST)

    def test_table_update_reaches_other_workbench(self):
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.open_demo()
        second = self.driver.current_window_handle
        self.driver.switch_to.window(first)
        self.repair("error")
        self.driver.switch_to.window(second)
        self.phone.wait(
            lambda: self.driver.find_element(By.CSS_SELECTOR, "#repair [value=error]").is_selected(), "the news"
        )
        self.driver.close()
        self.driver.switch_to.window(first)

    def test_only_workbench_can_update_table(self):
        outcomes = self.driver.execute_script(
            """const { Bridge } = await import("/bridge/bridge.js");
               const { shell } = await import("/demo/workbench.js");
               const { session, token } = await shell.bridge.request("session.invite", { uses: 2 });
               const join = { session, token };
               const told = {};
               // A page that the phone shows is a guest, whatever it claims to be.
               for (const [who, options] of Object.entries({ guest: { join }, claiming: { join, token: "workbench" }, other: {} })) {
                 const bridge = new Bridge({ keep: "nothing", ...options });
                 told[who] = await Promise.all(["table.get", "table.update", "table.rollback"].map((method) =>
                   bridge.request(method, {}).then(() => "done", (error) => `${error.code} ${error.data?.rule}`)));
                 await bridge.close();
               }
               return told;"""
        )
        rules = {"guest": "invitation", "claiming": "invitation", "other": "default"}
        self.assertEqual({name: [f"2403 {rule}"] * 3 for name, rule in rules.items()}, outcomes)


if __name__ == "__main__":
    unittest.main()
