// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/** @typedef {import("../../bridge/types/api.js").Stack} Stack */
/** @typedef {import("../shared/icons.js").IconName} IconName */
/** @typedef {Record<string, any>} Route one of the server's */

/** @type {Record<string, IconName>} by the name of the route of a tab's first page */
const icons = { home: "home", discover: "compass", me: "person" };

/** The tabs at the bottom of the screen, and a placeholder for a tab without pages. */
export class Tabs {
  bar = element("nav", { class: "tabs", "aria-label": "Tabs", hidden: true });
  vacant = element("div", { class: "vacant", hidden: true });
  #drawn = "";

  /** @param {(tab: number) => void} press */
  constructor(press) {
    this.press = press;
  }

  /**
   * @param {Stack} stack
   * @param {Route[]} routes
   * @param {boolean} covered whether a modal page lies over the tabs
   */
  show({ tabs = [], selected, pages }, routes, covered) {
    const found = tabs.map(({ uri }) => routes.find(({ patterns }) => patterns.includes(uri)));
    const titles = tabs.map(({ uri }, tab) => String(found[tab]?.title ?? uri));
    // Buttons that stay keep the focus.
    if (this.#drawn !== titles.join()) {
      this.#drawn = titles.join();
      this.bar.replaceChildren(...titles.map((title, tab) =>
        element("button", { class: "tab", type: "button", onclick: () => this.press(tab) },
          icon(icons[found[tab]?.name] ?? "note"), title)));
    }
    [...this.bar.children].forEach((button, tab) => {
      if (tab === selected) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    });
    this.bar.hidden = tabs.length === 0;
    this.bar.inert = covered;
    this.#showVacant(typeof selected === "number" && pages.length === 0 ? selected : undefined, titles);
  }

  /**
   * @param {number | undefined} tab the shown tab, where it has no pages
   * @param {string[]} titles
   */
  #showVacant(tab, titles) {
    this.vacant.hidden = tab === undefined;
    if (tab === undefined) return;
    this.vacant.replaceChildren(
      element("p", {}, `The client that showed the pages of ${titles[tab]} has disconnected.`),
      element("button", { class: "primary", type: "button", onclick: () => this.press(tab) }, "Open it again"));
  }
}
