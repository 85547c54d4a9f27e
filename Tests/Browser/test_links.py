"""URIs that are redirected: old ones, future ones, those of other apps, and how the workbench explains them."""

import unittest

from demo_case import DemoCase

DISCOVER = "native://discover"


class LinksTest(DemoCase):
    def follow(self, title):
        self.phone.tab("Discover")
        self.phone.press(DISCOVER, title)

    def test_old_uri_is_redirected_by_table(self):
        self.follow("An old URI")
        self.phone.wait_for_stack("native://address/a2", DISCOVER)
        self.phone.press("native://address/a2", "Take this address")
        self.assertEqual(self.phone.result(DISCOVER), "Studio, Bergen")

    def test_unmatched_uri_opens_upgrade_page(self):
        self.follow("A URI of a later version")
        page = self.phone.surface("native://upgrade")
        self.assertIn("native://future/thing", page.text)
        self.assertEqual([uri for _, uri in self.phone.stack()][1:], [DISCOVER])
        self.phone.button("Go back", page).click()
        self.assertEqual(self.phone.result(DISCOVER), "dismissed")

    def test_third_party_route_shows_its_target_uri(self):
        self.follow("To another app")
        self.phone.press("native://handoff", "Close")
        self.assertEqual(self.phone.result(DISCOVER), "stayed here")
        self.follow("To another app")
        sheet = self.phone.surface("native://handoff")
        self.assertIn("Maps opens\ngeo:52.5,13.4", sheet.text)
        self.phone.button("Open Maps", sheet).click()
        self.assertEqual(self.phone.result(DISCOVER), "opened geo:52.5,13.4")


class ExplainTest(DemoCase):
    def explain(self, uri):
        """The workbench's explanation of a URI, in lines."""
        field = self.phone.find("#explain-uri")
        field.clear()
        field.send_keys(uri)
        return self.read_explanation(self.phone.find("#explain button"))

    def read_explanation(self, button):
        self.driver.execute_script("document.getElementById('explanation').replaceChildren()")
        button.click()
        return self.phone.wait(lambda: self.phone.find("#explanation").text, "it").split("\n")

    def test_uri_is_explained_without_opening_it(self):
        lines = self.explain("native://address/7?selected=a1")
        self.assertEqual(lines[0], "Opens by the pattern 'native://address/:id'")
        self.assertIn("page address", lines)
        self.assertIn('"7" from the path', lines)
        self.assertIn('"a1" from the query', lines)
        self.assertTrue(any(line.startswith("native://address/list") for line in lines), lines)
        self.screenshot("explain")
        self.assertEqual([uri for _, uri in self.phone.stack()], ["native://home"])

    def test_explanation_shows_redirects_and_gates(self):
        lines = self.explain("native://contacts/a2")
        self.assertIn("native://address/a2", lines)
        lines = self.explain("native://orders?filter=open")
        self.assertEqual(lines[lines.index("Gates") + 1], "signedIn")
        self.screenshot("explain-orders")

    def test_unmatched_uri_is_explained_too(self):
        self.assertIn("undefined-route handler", " ".join(self.explain("wxmp://nothing")))
        lines = self.explain("native://addres/7")
        self.assertTrue(lines[0].startswith("No route: "), lines)
        patterns = [line for line in lines if line.startswith("native://")]
        self.assertTrue(patterns[0].startswith("native://address/:id"), lines)
        self.assertTrue(self.explain("no uri")[0].startswith("Does not open"))

    def test_pressing_an_example_explains_it(self):
        button = self.phone.button("tp://maps", self.phone.find("#examples"))
        self.assertIn('"geo:52.5,13.4" from the query', self.read_explanation(button))
        self.assertEqual(self.phone.find("#explain-uri").get_property("value"), button.text)


if __name__ == "__main__":
    unittest.main()
