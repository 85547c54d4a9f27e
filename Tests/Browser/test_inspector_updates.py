"""Updates of the inspector: what it receives and requests, and what it leaves unchanged."""

import json
import unittest

from demo_server import DemoServer
from test_inspector import InspectorCase

# Records what the page sends and saves.
RECORDING_SCRIPT = """
  window.sent_ = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) { window.sent_.push(JSON.parse(text)); send.call(this, text); };
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { blob.text().then((text) => (window.saved_ = text)); return make(blob); };
"""


class UpdatesCase(InspectorCase):
    def inspect(self, app=None):
        super().inspect(app)
        self.driver.execute_script(RECORDING_SCRIPT)

    def sent_params(self, method):
        """The params of the requests of this method that the page has sent."""
        return self.driver.execute_script("return window.sent_.filter(({ method }) => method === arguments[0]).map(({ params }) => params ?? {})", method)

    def wait_for_refresh(self, method):
        """Waits until the page has sent the request, has the response, and sends it again."""
        self.driver.execute_script("window.sent_ = []")
        self.wait(
            """document.dispatchEvent(new Event("visibilitychange"));
               return window.sent_.filter(({ method }) => method === arguments[0]).length > 1""", f"{method} again", method)

    def start_recording(self):
        self.page.find("#record").click()
        self.wait("return document.getElementById('record').getAttribute('aria-pressed') === 'true'", "the beginning")

    def stop_recording(self):
        self.page.find("#record").click()
        return [json.loads(line) for line in self.wait("return window.saved_", "the file").splitlines()]


class UpdatesTest(UpdatesCase):
    def test_listed_session_keeps_its_element_and_focus(self):
        app, other = self.host(), self.app("other")
        self.inspect(app)
        option = self.page.find(f"#sessions [data-session='{other.session}']")
        option.click()
        self.driver.execute_script("arguments[0].focus()", option)
        app.begin("router.open", uri="native://address/7")
        self.wait("return document.querySelector(`#sessions [data-session='${arguments[0]}'] .notes`).textContent.includes('1 page')", "the page", app.session)
        joined = self.app("joined")
        self.page.find(f"#sessions [data-session='{joined.session}']")
        self.assertTrue(self.driver.execute_script("return arguments[0].isConnected && document.activeElement === arguments[0]", option))

    def test_earlier_calls_of_selected_session_are_shown(self):
        app, other = self.host(), self.app("other")
        # A client watches already.
        other.request("admin.watch")
        other.request("router.invoke", uri="action://echo", params={"n": 0})
        app.request("router.invoke", uri="action://echo", params={"n": 1})
        self.inspect(other)
        self.row("action://echo")
        self.page.find(f"#sessions [data-session='{app.session}']").click()
        self.row("action://echo")
        app.request("router.invoke", uri="action://nowhere")
        self.row("action://nowhere")
        # Earlier records can arrive after it: until then the list shows the other session, which also has an echo.
        both = ["invoke action://echo", "invoke action://nowhere"]
        self.page.wait(lambda: [row.split("\n")[2] for row in self.texts("#calls-scroll [role=row]")] == both, "both calls")
        self.wait_for_refresh("admin.session")
        self.assertEqual({params["records"] for params in self.sent_params("admin.session")}, {False})

    def test_timeline_uses_clock_of_server(self):
        for hours in (1, -1):
            app = self.host()
            self.inspect(app)
            self.driver.execute_script("const now = Date.now; Date.now = () => now() + arguments[0]", hours * 3_600_000)
            app.request("router.invoke", uri="action://echo")
            self.wait("return document.querySelector('#timeline .bar[data-kind=call]') !== null", f"the call, by a clock {hours} hours ahead")

    def test_filter_finds_call_by_outcome(self):
        app = self.host()
        self.inspect(app)
        call = app.begin("router.open", uri="native://address/7")
        self.row("native://address/7")
        self.driver.execute_script(
            """const field = document.getElementById("calls-filter"); field.value = "finished"; field.dispatchEvent(new Event("input"));""")
        self.wait("return document.getElementById('calls-found').textContent.startsWith('0 of')", "the filter")
        app.request("navigation.finish", page="p1")
        app.response(call)
        self.row("finished")
        # A screen reader announces how many rows a filter finds, not how many arrive.
        self.assertRegex(self.page.find("#calls-count").text, "^1 of ")
        self.assertRegex(self.driver.execute_script("return document.getElementById('calls-found').textContent"), "^0 of ")
        self.assertIsNone(self.page.find("#calls-count").get_attribute("role"))

    def test_clear_closes_open_details(self):
        app = self.host()
        self.inspect(app)
        app.request("router.invoke", uri="action://echo")
        self.row("action://echo").click()
        self.page.find("#detail")
        self.page.find("#clear").click()
        self.wait("return document.getElementById('detail').hidden", "the end of the detail")

    def test_disconnected_client_is_shown_with_duration(self):
        app = self.host()
        self.inspect(app)
        self.wait("return document.querySelector('#members li') !== null", "the client")
        app.disconnect()
        text = "return [...document.querySelectorAll('#members li')].map((each) => each.textContent).join().match(/disconnected for [\\d.]+ s/)?.[0]"
        first = self.wait(text, "the absence")
        self.page.wait(lambda: self.driver.execute_script(text) not in (None, first), "a longer absence")


class UnchangedContentTest(UpdatesCase):
    def test_button_keeps_focus_across_refresh(self):
        app = self.host()
        app.request("table.update", operations=[{"op": "redirect", "from": "action://gone", "to": "action://echo"}])
        self.inspect(app)
        self.show("Versions")
        button = self.page.button("Restore", self.page.find("#table-versions"))
        self.driver.execute_script("arguments[0].focus()", button)
        self.wait_for_refresh("admin.versions")
        self.assertEqual(self.driver.switch_to.active_element, button)

    def test_session_options_stay_across_refresh(self):
        app = self.host()
        self.inspect(app)
        self.show("Explain")
        self.wait("return document.querySelector(`#explain-session option[value='${arguments[0]}']`) !== null", "the session", app.session)
        self.driver.execute_script("window.option_ = document.querySelector(`#explain-session option[value='${arguments[0]}']`)", app.session)
        self.wait_for_refresh("admin.sessions")
        self.assertTrue(self.driver.execute_script("return window.option_.isConnected"))

    def test_live_region_is_written_only_on_change(self):
        self.inspect()
        for view, method in (("routes", "admin.routes"), ("refusals", "admin.refusals")):
            self.show("Routes" if view == "routes" else "Refused connections")
            self.wait("return document.getElementById(arguments[0]).textContent !== ''", view, f"{view}-count")
            self.driver.execute_script(
                """window.writes_ = 0;
                   new MutationObserver(() => (window.writes_ += 1)).observe(document.getElementById(arguments[0]), { childList: true, characterData: true });""",
                f"{view}-count")
            self.wait_for_refresh(method)
            self.assertEqual(self.driver.execute_script("return window.writes_"), 0, view)


class RecordingTest(UpdatesCase):
    server_ends = True

    def test_recording_watches_one_session_then_all(self):
        app, other = self.host(), self.app("other")
        self.inspect(app)
        self.start_recording()
        other.request("router.invoke", uri="action://echo", params={"n": 1})
        app.request("router.invoke", uri="action://echo", params={"n": 2})
        self.wait("return document.getElementById('record').textContent === 'Stop (1)'", "the record")
        self.page.find(f"#sessions [data-session='{other.session}']").click()
        self.wait("return document.getElementById('notice').textContent.includes('no new calls of other sessions')", "the notice")
        self.assertEqual([line["type"] for line in self.stop_recording()], ["recording", "call"])
        self.wait("return window.sent_.filter(({ method }) => method === 'admin.watch').length === 2", "the end")
        wishes = [{"session": app.session, "messages": True, "limit": 65536}, {"messages": True, "limit": 4096}]
        self.assertEqual(self.sent_params("admin.watch"), wishes)

    def test_recording_notes_lost_connection(self):
        app = self.host()
        self.inspect(app)
        app.begin("router.open", uri="native://address/7")
        self.row("waiting")
        self.start_recording()
        app.request("router.invoke", uri="action://echo")
        self.wait("return document.getElementById('record').textContent.startsWith('Stop (')", "the record")
        self.server.crash()
        type(self).server = DemoServer(self.server.port, self.command)
        self.wait("return document.getElementById('state').dataset.state === 'open'", "another connection")
        self.wait("return window.sent_.filter(({ method }) => method === 'admin.watch').length === 2", "the new watch")
        self.row("unknown")
        *_, last = self.stop_recording()
        self.assertEqual([last["type"], last["gaps"]], ["incomplete", 1])


if __name__ == "__main__":
    unittest.main()
