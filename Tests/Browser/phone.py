"""The demo's phone and the panels next to it, as a person uses them."""

import json
from contextlib import contextmanager

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tabs import IS_VISIBLE

TIMEOUT = 30  # seconds


# The first visible element that a selector finds and that has a text or a name.
SEARCH = f"""
  const [selector, text, within] = arguments;
  const fits = (element) => text === null || element.ariaLabel === text || element.textContent.replace(/\\s+/g, " ").includes(text);
  const found = [...(within ?? document).querySelectorAll(selector)];
  return found.find((element) => fits(element) && ({IS_VISIBLE})(element)) ?? null;
"""
# The first visible row of the messages with a title, and of a client if one is named.
ROW = f"""
  const [title, client] = arguments;
  const has = (row, selector, text) => row.querySelector(selector).textContent === text;
  const fits = (row) => has(row, ".message-title", title) && (client === null || has(row, ".chip", client));
  return [...document.querySelectorAll("#messages .message")].find((row) => fits(row) && ({IS_VISIBLE})(row)) ?? null;
"""
# The text of the first visible note that contains a text.
NOTE = f"""
  const notes = [...document.querySelectorAll("#messages .note")].filter({IS_VISIBLE});
  return notes.map((note) => note.innerText.trim()).find((text) => text.includes(arguments[0])) ?? null;
"""
# Whether a frame has a page. A frame shows an empty document first, and Firefox keeps its window for the page.
LOADED = "return location.href !== 'about:blank' && document.readyState === 'complete'"


class Phone:
    def __init__(self, driver):
        self.driver = driver

    def wait(self, condition, what):
        """Returns the result of `condition` once it is true; it is polled for TIMEOUT seconds."""
        waiting = WebDriverWait(
            self.driver, TIMEOUT, 0.05, ignored_exceptions=[StaleElementReferenceException]
        )
        return waiting.until(lambda _: condition(), f"waited for {what}")

    def find(self, selector, within=None):
        """The first visible element that matches."""
        return self.wait(lambda: self.driver.execute_script(SEARCH, selector, None, within), selector)

    def button(self, text, within=None):
        return self.wait(lambda: self.driver.execute_script(SEARCH, "button", text, within), f"the button {text}")

    # The phone

    def surface(self, uri):
        """Waits until the page on top has this URI, and returns it."""
        return self.find(f".surface.top[data-uri*='{uri}']")

    def press(self, uri, text):
        """Presses a button on a native page, or in the bar above a web page. The page must be on top, and its call ended: the
        demo ignores a press while a call runs."""
        surface = self.surface(uri)
        self.wait(lambda: not surface.find_elements(By.CSS_SELECTOR, ".result[data-state=waiting]"), f"the end of the call of {uri}")
        self.button(text, surface).click()

    def tab(self, title):
        """Presses one of the tabs."""
        self.button(title, self.find(".tabs")).click()

    def result(self, uri):
        return self.settled(self.surface(uri))

    def settled(self, within=None):
        """The text of a result that has arrived."""
        return self.find(".result:not([data-state=waiting]) .result-text", within).text

    @contextmanager
    def web(self, uri):
        """Switches into the web page on top, once it is loaded."""
        frame = self.surface(uri).find_element(By.TAG_NAME, "iframe")
        self.driver.switch_to.frame(frame)
        self.wait(lambda: self.driver.execute_script(LOADED), f"the load of {uri}")
        try:
            yield self
        finally:
            self.driver.switch_to.default_content()

    @contextmanager
    def flutter(self):
        """Switches into the Flutter view, which must be on top."""
        self.driver.switch_to.frame(self.find("iframe.surface.top"))
        try:
            yield self
        finally:
            self.driver.switch_to.default_content()

    def flutter_page(self, title):
        return self.find(f".page[aria-label='{title}']:not([inert])")

    def settle(self):
        """Waits until only the animations of running calls move."""
        moving = "return document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity).length"
        self.wait(lambda: self.driver.execute_script(moving) == 0, "the end of the motion")

    def toast(self, text):
        self.wait(lambda: text in self.find("#toasts").text, f"the toast {text}")

    # The panels next to the phone

    def stack(self):
        """The live stack, top first, as (technology, URI) pairs."""
        return self.driver.execute_script(
            """return [...document.querySelectorAll("#stack .stack-page")].map((page) =>
                 [page.querySelector(".chip").textContent, page.querySelector(".stack-uri").textContent])"""
        )

    def wait_for_stack(self, *uris):
        """Waits until the live stack has these URIs, top first."""
        expected = list(uris)
        self.wait(lambda: [uri for _, uri in self.stack()] == expected, f"the stack {expected}")

    def messages(self):
        """The rows of the messages, newest first, as (who, direction, title, kind): a request stays one until it has its response."""
        return self.driver.execute_script(
            """return [...document.querySelectorAll("#messages .message")].map((message) => [
                 message.querySelector(".chip").textContent, message.dataset.direction,
                 message.querySelector(".message-title").textContent, message.dataset.kind])"""
        )

    def wait_for_web_session(self):
        """Waits until a web page has a session. A call that waits for it is sent later, and its row does not show the page's code."""
        self.wait(lambda: ["web", "out", "session.open", "result"] in self.messages(), "the web page's session")

    def row(self, title, client=None):
        """The newest visible row of the messages with this title, of any client or of one."""
        return self.wait(lambda: self.driver.execute_script(ROW, title, client), f"the row {title}")

    def open_row(self, title, client=None):
        """Opens such a row and returns it. By key, since new rows move the others."""
        row = self.row(title, client)
        row.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
        self.wait(lambda: row.get_attribute("open"), f"the open row {title}")
        return row

    def note(self, text):
        """The note among the messages that contains this text."""
        return self.wait(lambda: self.driver.execute_script(NOTE, text), f"the note {text}")

    def overflow(self):
        """Elements of this document that are wider than their container, as selectors."""
        return json.loads(
            self.driver.execute_script(
                """const wide = (e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0;
                   const cut = (e) => getComputedStyle(e).textOverflow === "ellipsis";
                   const hidden = (e) => !e.checkVisibility({ visibilityProperty: true });
                   const boxes = [document.documentElement, ...document.body.querySelectorAll(
                     "main, section, aside, header, footer, ol, ul, div, form, p, pre, fieldset, dl")];
                   return JSON.stringify(boxes.filter((e) => wide(e) && !cut(e) && !hidden(e))
                     .map((e) => `${e.tagName.toLowerCase()}#${e.id}.${e.className}`));"""
            )
        )

    def cut(self):
        """Buttons and fields of this document that are partly hidden and cannot be scrolled to, as their texts."""
        return json.loads(
            self.driver.execute_script(
                """const clips = (e) => /hidden|clip/.test(getComputedStyle(e).overflowX + getComputedStyle(e).overflowY);
                   const within = (inner, outer) => inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1
                     && inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
                   const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX + getComputedStyle(e).overflowY);
                   const isCut = (control) => {
                     const box = control.getBoundingClientRect();
                     for (let e = control.parentElement; e && !scrolls(e); e = e.parentElement) {
                       if (clips(e) && !within(box, e.getBoundingClientRect())) return true;
                     }
                     return false;
                   };
                   const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[inert]");
                   return JSON.stringify([...document.querySelectorAll("button, input, select, textarea, a[href]")]
                     .filter((e) => shown(e) && isCut(e)).map((e) => e.textContent || e.id || e.tagName));"""
            )
        )
