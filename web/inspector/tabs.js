// @ts-check
import { byId } from "./dom.js";
import { focusOn, roving } from "./roving.js";

/** The views, of which one is shown. Events: `show` with its name. */
export class Tabs extends EventTarget {
  #list = byId("tabs", HTMLElement);
  #tabs = /** @type {HTMLElement[]} */ ([...this.#list.querySelectorAll("[role=tab]")]);
  shown = "sessions";

  constructor() {
    super();
    focusOn(this.#tabs[0], this.#tabs);
    roving(this.#list, "[role=tab]", { isHorizontal: true, moved: (tab) => this.show(nameOf(tab)) });
    this.#list.addEventListener("click", ({ target }) => {
      if (target instanceof HTMLElement && target.getAttribute("role") === "tab") this.show(nameOf(target));
    });
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
