// @ts-check
import { byId, element } from "../shared/dom.js";
import { technology } from "../shell/stack.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../../bridge/types.js").Stack} Stack */

/** The live stack: the tab that is shown, its topmost page first, a modal stack in the page that presents it; then the tabs that wait. */
export class StackView {
  #heading = byId("stack-tab", HTMLElement);
  #list = byId("stack", HTMLOListElement);
  #beside = byId("beside", HTMLElement);

  /** @param {Stack} stack */
  show({ tabs = [], selected, pages }) {
    const shown = typeof selected === "number" ? tabs[selected] : undefined;
    this.#heading.textContent = shown ? `Tab ${shown.uri}` : "No tab";
    this.#heading.hidden = tabs.length === 0;
    this.#list.replaceChildren(...entries(pages, topmost(pages)));
    const others = tabs.filter((tab) => tab !== shown);
    this.#beside.replaceChildren(...others.map((tab) => element("section", { "data-tab": tab.uri },
      element("h3", {}, `Tab ${tab.uri} · ${tab.pages?.length ? "waits" : "not opened"}`),
      element("ol", { class: "stack" }, ...entries(tab.pages ?? [], undefined)))));
  }
}

/**
 * @param {Page[]} pages
 * @returns {string | undefined} the id of the page on top
 */
function topmost(pages) {
  const last = pages[pages.length - 1];
  return last && (topmost(last.pages ?? []) ?? last.id);
}

/**
 * @param {Page[]} pages
 * @param {string | undefined} top
 * @returns {HTMLLIElement[]}
 */
function entries(pages, top) {
  return [...pages].reverse().map((page) => {
    const kind = technology(page.uri);
    const modal = page.pages?.length
      ? element("ol", { class: "stack modal", "aria-label": "Modal stack" }, ...entries(page.pages, top))
      : null;
    return element("li", { "data-page": page.id, "data-technology": kind, "aria-current": page.id === top ? "true" : null },
      modal,
      element("div", { class: "stack-page" },
        element("span", { class: "chip", "data-technology": kind }, kind),
        element("span", { class: "stack-uri" }, short(page.uri)),
        element("span", { class: "stack-detail" }, `${page.style} · ${page.id}${page.host ? ` · ${page.host}` : ""}`)));
  });
}

/** @param {string} uri without the server's own address, which says nothing */
function short(uri) {
  return uri.startsWith(location.origin) ? uri.slice(location.origin.length) : uri;
}
