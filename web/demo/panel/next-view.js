// @ts-check
import { byId } from "../shared/dom.js";

/**
 * A suggestion for what to try after the guided steps.
 * @typedef {object} Suggestion
 * @property {number} [tab] the tab of the phone that it begins at
 * @property {string} [row] the title of the row to press on that tab
 * @property {string} [panel] a selector of the control beside the phone to use
 * @property {string} [view] the view of the small layout that has the control
 * @property {[string, string, string]} text what to press, what to watch, and a note
 */

/** @type {Record<string, Suggestion>} */
const suggestions = {
  login: {
    tab: 1, row: "My orders",
    text: ["My orders on the phone, then Log in.", "the gate of the route hold the call until you log in. The same call then opens the orders.", "If you are logged in already, log out on the tab Me first."],
  },
  table: {
    panel: ".repair", view: "stack",
    text: ["web page under “Route table”, then Addresses on the phone.", "the same call open a web page instead of the native page, without a change in the app.", "Reset restores the native page."],
  },
  flutter: {
    tab: 0, row: "Counter",
    text: ["Counter on the phone, then Done on the Flutter page.", "a Flutter page join the same stack and return its count to the native page.", ""],
  },
  guard: {
    tab: 0, row: "Outfitters",
    text: ["Outfitters and Write a review, and change a word. Then go back, also with the button of your browser.", "the page ask before it closes. It stays open until you choose Discard.", ""],
  },
  live: {
    tab: 0, row: "Outfitters",
    text: ["Outfitters on the phone. Then press The blue mug on the tab Discover.", "the open web page return with a blue mug. It receives the new parameter without a reload.", ""],
  },
  photo: {
    tab: 0, row: "Outfitters",
    text: ["Outfitters and Share a photo. Then choose a channel.", "the web page send some megabytes beside its messages. The native sheet fetches the photo and shows it.", ""],
  },
  inspector: {
    text: ["a call in the inspector to see its messages.", "the stack, the timeline and the calls of this session while you use the phone.", ""],
  },
};

/** The suggestions below the guided steps. Each shows where to begin and says what to watch. */
export class NextView {
  #panel = byId("next", HTMLElement);
  #text = byId("next-text", HTMLElement);
  /** @type {Suggestion | undefined} the suggestion whose place is not highlighted yet */
  #chosen;

  /**
   * @param {{showTab: (tab: number) => void, showView: (view: string) => void}} actions `showTab` shows the first page of a tab of the
   *   phone, `showView` a view of the small layout
   */
  constructor({ showTab, showView }) {
    const buttons = [...this.#panel.querySelectorAll("button")];
    this.#panel.addEventListener("click", ({ target }) => {
      const button = target instanceof Element ? target.closest("button") : null;
      const isLink = target instanceof HTMLAnchorElement;
      const suggestion = button ? suggestions[button.value] : isLink ? suggestions.inspector : undefined;
      if (!suggestion) return;
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
      this.#choose(suggestion);
      if (suggestion.tab !== undefined) {
        showView("phone");
        showTab(suggestion.tab);
      }
      if (suggestion.view) showView(suggestion.view);
    });
    // Using what is highlighted ends the highlight.
    document.addEventListener("click", ({ target }) => {
      if (target instanceof Element && target.closest(".pointed")) this.#clear();
    });
  }

  /** @param {boolean} isShown */
  show(isShown) {
    this.#panel.hidden = !isShown;
  }

  /** Highlights the place to begin as soon as it is on the screen. */
  refresh() {
    const { row, panel } = this.#chosen ?? {};
    const rows = [...document.querySelectorAll("#screen .surface.top .row")];
    const element = panel ? document.querySelector(panel) : rows.find((each) => each.querySelector(".row-title")?.textContent === row);
    if (!element) return;
    this.#chosen = undefined;
    element.classList.add("pointed");
    element.scrollIntoView({ block: "nearest" });
  }

  /** @param {Suggestion} suggestion */
  #choose(suggestion) {
    const [press, watch, more] = suggestion.text;
    const label = (/** @type {string} */ text) => Object.assign(document.createElement("b"), { textContent: text });
    this.#text.replaceChildren(label("Press"), ` ${press} `, label("Watch"), ` ${watch} ${more}`.trimEnd());
    this.#clear();
    this.#chosen = suggestion;
    this.refresh();
  }

  #clear() {
    this.#chosen = undefined;
    for (const each of document.querySelectorAll(".pointed")) each.classList.remove("pointed");
  }
}
