"""The demo's phone and the panels beside it, as a person uses them."""

import json
from contextlib import contextmanager

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 10  # seconds


class Phone:
    def __init__(self, driver):
        self.driver = driver

    def wait(self, condition, what):
        """What `condition` returns once it is true; it is asked again and again for PATIENCE seconds."""
        waiting = WebDriverWait(
            self.driver, PATIENCE, 0.05, ignored_exceptions=[StaleElementReferenceException]
        )
        return waiting.until(lambda _: condition(), f"waited for {what}")

    def find(self, selector, within=None):
        """The one shown element that fits."""

        def shown():
            found = (within or self.driver).find_elements(By.CSS_SELECTOR, selector)
            visible = [element for element in found if element.is_displayed()]
            return visible[0] if visible else None

        return self.wait(shown, selector)

    def button(self, text, within=None):
        def shown():
            path = f".//button[contains(normalize-space(), '{text}') or @aria-label='{text}']"
            found = (within or self.driver).find_elements(By.XPATH, path)
            visible = [element for element in found if element.is_displayed()]
            return visible[0] if visible else None

        return self.wait(shown, f"the button {text}")

    # The phone

    def surface(self, uri):
        """The page on top, once it is of that URI."""
        return self.find(f".surface.top[data-uri*='{uri}']")

    def press(self, uri, text):
        """Presses a button on a native page, or in the bar above a web page, which must be on top."""
        self.button(text, self.surface(uri)).click()

    def tab(self, title):
        """Presses one of the tabs."""
        self.button(title, self.find(".tabs")).click()

    def result(self, uri):
        return self.settled(self.surface(uri))

    def settled(self, within=None):
        """The text of a result that is no longer awaited."""
        return self.find(".result:not([data-state=waiting]) .result-text", within).text

    @contextmanager
    def web(self, uri):
        """Inside the web page on top."""
        frame = self.surface(uri).find_element(By.TAG_NAME, "iframe")
        self.driver.switch_to.frame(frame)
        try:
            yield self
        finally:
            self.driver.switch_to.default_content()

    @contextmanager
    def flutter(self):
        """Inside the Flutter view, which must be on top."""
        self.driver.switch_to.frame(self.find("iframe.surface.top"))
        try:
            yield self
        finally:
            self.driver.switch_to.default_content()

    def flutter_page(self, title):
        return self.find(f".page[aria-label='{title}']:not([inert])")

    def settle(self):
        """Waits until nothing moves but what moves as long as a call runs."""
        moving = "return document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity).length"
        self.wait(lambda: self.driver.execute_script(moving) == 0, "the end of the motion")

    def toast(self, text):
        self.wait(lambda: text in self.find("#toasts").text, f"the toast {text}")

    # Beside the phone

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
        """The rows of the messages, newest first, as (who, direction, title, kind): a request is one until it is answered."""
        return self.driver.execute_script(
            """return [...document.querySelectorAll("#messages .message")].map((message) => [
                 message.querySelector(".chip").textContent, message.dataset.direction,
                 message.querySelector(".message-title").textContent, message.dataset.kind])"""
        )

    def row(self, title):
        """The newest row of the messages that is shown and has this title."""

        def shown():
            rows = self.driver.find_elements(By.CSS_SELECTOR, "#messages .message")
            fitting = [row for row in rows if row.is_displayed() and row.find_elements(By.CSS_SELECTOR, ".message-title")[0].text == title]
            return fitting[0] if fitting else None

        return self.wait(shown, f"the row {title}")

    def note(self, text):
        """What is said among the messages and holds this text."""

        def told():
            notes = [note.text for note in self.driver.find_elements(By.CSS_SELECTOR, "#messages .note")]
            return next((note for note in notes if text in note), None)

        return self.wait(told, f"the note {text}")

    def overflow(self):
        """Elements of this document that are wider than their place, as selectors."""
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
        """Buttons and fields of this document of which a part is not shown and cannot be scrolled to, as their texts."""
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
