"""What the inspector is told, what it asks for, and what it leaves as it is because nothing differs."""

import json
import unittest

from demo_case import UNREACHED
from demo_server import DemoServer
from test_inspector import InspectorCase

# Keeps what the page sends and saves.
KEEPING = """
  window.sent_ = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) { window.sent_.push(JSON.parse(text)); send.call(this, text); };
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { blob.text().then((text) => (window.saved_ = text)); return make(blob); };
"""


class ToldCase(InspectorCase):
    def inspect(self, app=None):
        super().inspect(app)
        self.driver.execute_script(KEEPING)

    def sent(self, method):
        """The params of what the page has asked by that method."""
        return self.driver.execute_script("return window.sent_.filter(({ method }) => method === arguments[0]).map(({ params }) => params ?? {})", method)

    def refreshed(self, method):
        """Until the page has asked that, has the answer, and asks again."""
        self.driver.execute_script("window.sent_ = []")
        self.wait(
            """document.dispatchEvent(new Event("visibilitychange"));
               return window.sent_.filter(({ method }) => method === arguments[0]).length > 1""", f"{method} again", method)

    def record(self):
        self.page.find("#record").click()
        self.wait("return document.getElementById('record').getAttribute('aria-pressed') === 'true'", "the beginning")

    def saved(self):
        self.page.find("#record").click()
        return [json.loads(line) for line in self.wait("return window.saved_", "the file").splitlines()]


class KnowingTest(ToldCase):
    def test_what_happened_before_a_session_is_chosen_is_shown(self):
        app, other = self.host(), self.app("other")
        # Somebody watches already.
        other.ask("admin.watch")
        other.ask("router.invoke", uri="action://echo", params={"n": 0})
        app.ask("router.invoke", uri="action://echo", params={"n": 1})
        self.inspect(other)
        self.row("action://echo")
        self.page.find(f"#sessions [data-session='{app.session}']").click()
        self.row("action://echo")
        app.ask("router.invoke", uri="action://nowhere")
        self.row("action://nowhere")
        # What was before may come after it: the list shows the other session until then, in which there is an echo too.
        both = ["invoke action://echo", "invoke action://nowhere"]
        self.page.wait(lambda: [row.split("\n")[2] for row in self.texts("#calls-scroll [role=row]")] == both, "both calls")
        self.refreshed("admin.session")
        self.assertEqual({params["records"] for params in self.sent("admin.session")}, {False})

    def test_the_timeline_goes_by_the_clock_of_the_server(self):
        for hours in (1, -1):
            app = self.host()
            self.inspect(app)
            self.driver.execute_script("const now = Date.now; Date.now = () => now() + arguments[0]", hours * 3_600_000)
            app.ask("router.invoke", uri="action://echo")
            self.wait("return document.querySelector('#timeline .bar[data-kind=call]') !== null", f"the call, by a clock {hours} hours ahead")

    def test_a_filter_finds_a_call_by_what_it_has_come_to(self):
        app = self.host()
        self.inspect(app)
        call = app.begin("router.open", uri="native://address/7")
        self.row("native://address/7")
        self.driver.execute_script(
            """const field = document.getElementById("calls-filter"); field.value = "finished"; field.dispatchEvent(new Event("input"));""")
        self.wait("return document.getElementById('calls-found').textContent.startsWith('0 of')", "the filter")
        app.ask("navigation.finish", page="p1")
        app.answer(call)
        self.row("finished")
        # It is read out how many a filter finds, not how many come.
        self.assertRegex(self.page.find("#calls-count").text, "^1 of ")
        self.assertRegex(self.driver.execute_script("return document.getElementById('calls-found').textContent"), "^0 of ")
        self.assertIsNone(self.page.find("#calls-count").get_attribute("role"))

    def test_what_is_cleared_is_not_open_any_more(self):
        app = self.host()
        self.inspect(app)
        app.ask("router.invoke", uri="action://echo")
        self.row("action://echo").click()
        self.page.find("#detail")
        self.page.find("#clear").click()
        self.wait("return document.getElementById('detail').hidden", "the end of the detail")

    def test_it_is_told_how_long_a_client_has_been_away(self):
        app = self.host()
        self.inspect(app)
        self.wait("return document.querySelector('#members li') !== null", "the client")
        app.vanish()
        text = "return [...document.querySelectorAll('#members li')].map((each) => each.textContent).join().match(/away for [\\d.]+ s/)?.[0]"
        first = self.wait(text, "the absence")
        self.page.wait(lambda: self.driver.execute_script(text) not in (None, first), "a longer absence")


class SameTest(ToldCase):
    def test_a_button_keeps_the_focus(self):
        app = self.host()
        app.ask("table.update", operations=[{"op": "redirect", "from": "action://gone", "to": "action://echo"}])
        self.inspect(app)
        self.show("Versions")
        button = self.page.button("Go back to", self.page.find("#table-versions"))
        self.driver.execute_script("arguments[0].focus()", button)
        self.refreshed("admin.versions")
        self.assertEqual(self.driver.switch_to.active_element, button)

    def test_the_sessions_to_choose_from_stay(self):
        app = self.host()
        self.inspect(app)
        self.show("Explain")
        self.wait("return document.querySelector(`#explain-session option[value='${arguments[0]}']`) !== null", "the session", app.session)
        self.driver.execute_script("window.option_ = document.querySelector(`#explain-session option[value='${arguments[0]}']`)", app.session)
        self.refreshed("admin.sessions")
        self.assertTrue(self.driver.execute_script("return window.option_.isConnected"))

    def test_what_is_read_out_is_written_when_it_differs(self):
        self.inspect()
        for view, method in (("routes", "admin.routes"), ("refusals", "admin.refusals")):
            self.show(view.capitalize())
            self.wait("return document.getElementById(arguments[0]).textContent !== ''", view, f"{view}-count")
            self.driver.execute_script(
                """window.writes_ = 0;
                   new MutationObserver(() => (window.writes_ += 1)).observe(document.getElementById(arguments[0]), { childList: true, characterData: true });""",
                f"{view}-count")
            self.refreshed(method)
            self.assertEqual(self.driver.execute_script("return window.writes_"), 0, view)


class RecordingTest(ToldCase):
    def tearDown(self):
        errors = [error for error in self.driver.errors() if not any(text in error for text in UNREACHED)]
        self.assertEqual(errors, [], "the browser's console has errors")

    def test_it_asks_for_its_session_alone_and_then_for_all(self):
        app, other = self.host(), self.app("other")
        self.inspect(app)
        self.record()
        other.ask("router.invoke", uri="action://echo", params={"n": 1})
        app.ask("router.invoke", uri="action://echo", params={"n": 2})
        self.wait("return document.getElementById('record').textContent === 'Stop (1)'", "the record")
        self.page.find(f"#sessions [data-session='{other.session}']").click()
        self.wait("return document.getElementById('notice').textContent.includes('is not told while')", "the notice")
        self.assertEqual([line["type"] for line in self.saved()], ["recording", "call"])
        self.wait("return window.sent_.filter(({ method }) => method === 'admin.watch').length === 2", "the end")
        wishes = [{"session": app.session, "messages": True, "limit": 65536}, {"messages": True, "limit": 4096}]
        self.assertEqual(self.sent("admin.watch"), wishes)

    def test_it_says_that_the_connection_was_lost(self):
        app = self.host()
        self.inspect(app)
        app.begin("router.open", uri="native://address/7")
        self.row("waits")
        self.record()
        app.ask("router.invoke", uri="action://echo")
        self.wait("return document.getElementById('record').textContent.startsWith('Stop (')", "the record")
        self.server.crash()
        type(self).server = DemoServer(self.server.port, self.command)
        self.wait("return document.getElementById('state').dataset.state === 'open'", "another connection")
        self.wait("return window.sent_.filter(({ method }) => method === 'admin.watch').length === 2", "the new watch")
        self.row("not told")
        *_, last = self.saved()
        self.assertEqual([last["type"], last["gaps"]], ["incomplete", 1])


if __name__ == "__main__":
    unittest.main()
