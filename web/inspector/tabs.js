// @ts-check
import { byId } from "./dom.js";
import { focusOn, rovingTabindex } from "./roving-tabindex.js";

/** The tabs of the views. One view is shown. Events: `show` with its name. */
export class Tabs extends EventTarget {
  #list = byId("tabs", HTMLElement);
  #tabs = /** @type {HTMLElement[]} */ ([...this.#list.querySelectorAll("[role=tab]")]);
  shown = "sessions";

  constructor() {
    super();
    focusOn(this.#tabs[0], this.#tabs);
    rovingTabindex(this.#list, "[role=tab]:not([hidden])", { isHorizontal: true, moved: (tab) => this.show(nameOf(tab)) });
    this.#list.addEventListener("click", ({ target }) => {
      if (target instanceof HTMLElement && target.getAttribute("role") === "tab") this.show(nameOf(target));
    });
  }

  /**
   * Shows or hides the tab of a view.
   * @param {string} name
   * @param {boolean} isThere
   */
  offer(name, isThere) {
    const tab = byId(`tab-${name}`, HTMLElement);
    const hadFocus = document.activeElement === tab;
    tab.hidden = !isThere;
    if (isThere || this.shown !== name) return;
    this.show("sessions");
    if (hadFocus) this.#tabs[0].focus();
  }

  /** @param {string} name */
  show(name) {
    this.shown = name;
    for (const tab of this.#tabs) {
      const isShown = nameOf(tab) === name;
      tab.setAttribute("aria-selected", String(isShown));
      byId(`${nameOf(tab)}-view`, HTMLElement).hidden = !isShown;
      if (isShown) focusOn(tab, this.#tabs);
    }
    this.dispatchEvent(new CustomEvent("show", { detail: name }));
  }
}

/** @param {HTMLElement} tab */
function nameOf(tab) {
  return tab.id.replace("tab-", "");
}
