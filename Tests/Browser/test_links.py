"""URIs that lead elsewhere: old ones, future ones, those of other apps, and what the workbench tells of them."""

import unittest

from demo_case import DemoCase

DISCOVER = "native://discover"


class LinksTest(DemoCase):
    def follow(self, title):
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, title)

    def test_an_old_uri_is_redirected_by_the_table(self):
        self.follow("From long ago")
        self.phone.wait_for_stack("native://address/a2", DISCOVER)
        self.phone.press("native://address/a2", "Take this address")
        self.assertEqual(self.phone.result(DISCOVER), "Studio, Bergen")

    def test_a_uri_without_a_route_lands_on_the_upgrade_page(self):
        self.follow("From the future")
        page = self.phone.surface("native://upgrade")
        self.assertIn("native://future/thing", page.text)
        self.assertEqual([uri for _, uri in self.phone.stack()][1:], [DISCOVER])
        self.phone.button("Go back", page).click()
        self.assertEqual(self.phone.result(DISCOVER), "dismissed")

    def test_a_third_party_route_shows_the_uri_that_it_would_open(self):
        self.follow("To another app")
        self.phone.press("native://handoff", "Close")
        self.assertEqual(self.phone.result(DISCOVER), "stayed here")
        self.follow("To another app")
        sheet = self.phone.surface("native://handoff")
        self.assertIn("Maps would open\ngeo:52.5,13.4", sheet.text)
        self.phone.button("Open Maps", sheet).click()
        self.assertEqual(self.phone.result(DISCOVER), "opened geo:52.5,13.4")


class ExplainTest(DemoCase):
    def explain(self, uri):
        """What the workbench tells of a URI, in lines."""
        field = self.phone.find("#explain-uri")
        field.clear()
        field.send_keys(uri)
        return self.ask(self.phone.find("#explain button"))

    def ask(self, button):
        self.driver.execute_script("document.getElementById('explanation').replaceChildren()")
        button.click()
        return self.phone.wait(lambda: self.phone.find("#explanation").text, "it").split("\n")

    def test_a_uri_is_explained_without_opening_it(self):
        lines = self.explain("native://address/7?selected=a1")
        self.assertEqual(lines[0], "Opens by the pattern 'native://address/:id'")
        self.assertIn("page address", lines)
        self.assertIn('"7" from the path', lines)
        self.assertIn('"a1" from the query', lines)
        self.assertTrue(any(line.startswith("native://address/list") for line in lines), lines)
        self.screenshot("explain")
        self.assertEqual([uri for _, uri in self.phone.stack()], ["native://home"])

    def test_redirects_and_interceptors_are_told(self):
        lines = self.explain("native://contacts/a2")
        self.assertIn("native://address/a2", lines)
        lines = self.explain("native://orders?filter=open")
        self.assertEqual(lines[lines.index("Seen by") + 1], "login")
        self.screenshot("explain-orders")

    def test_what_does_not_open_is_explained_too(self):
        self.assertIn("undefined-route handler", " ".join(self.explain("wxmp://nothing")))
        self.assertTrue(self.explain("no uri")[0].startswith("Does not open"))

    def test_an_example_is_explained_at_a_press(self):
        button = self.phone.button("tp://maps", self.phone.find("#examples"))
        self.assertIn('"geo:52.5,13.4" from the query', self.ask(button))
        self.assertEqual(self.phone.find("#explain-uri").get_property("value"), button.text)


if __name__ == "__main__":
    unittest.main()
