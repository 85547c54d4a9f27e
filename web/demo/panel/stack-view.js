// @ts-check
import { byId, element } from "../shared/dom.js";
import { layers, technology } from "../shell/stack.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../../bridge/types/api.js").Stack} Stack */
/** @typedef {Map<string, import("./exchanges.js").Exchange>} Awaited the calls that wait for pages, by page id */

/** The live stack: the tab that is shown, its topmost page first, a modal stack in the page that presents it; then the tabs that wait. */
export class StackView {
  #heading = byId("stack-tab", HTMLElement);
  #list = byId("stack", HTMLOListElement);
  #beside = byId("beside", HTMLElement);
  /** @type {Stack} */
  #stack = { pages: [] };
  /** @type {Awaited} */
  #awaited = new Map();

  /** How many pages there are, in all tabs. */
  get count() {
    const { tabs = [], selected, pages } = this.#stack;
    const waiting = tabs.filter((_, tab) => tab !== selected).map((tab) => tab.pages ?? []);
    return [pages, ...waiting].reduce((sum, each) => sum + layers(each).length, 0);
  }

  /** @param {Stack} stack */
  show(stack) {
    this.#stack = stack;
    this.#draw();
  }

  /** @param {Awaited} awaited */
  await(awaited) {
    const isSame = awaited.size === this.#awaited.size && [...awaited].every(([page, call]) => this.#awaited.get(page) === call);
    this.#awaited = awaited;
    if (!isSame) this.#draw();
  }

  #draw() {
    const { tabs = [], selected, pages } = this.#stack;
    const awaited = this.#awaited;
    const shown = typeof selected === "number" ? tabs[selected] : undefined;
    this.#heading.textContent = shown ? `Tab ${shown.uri}` : "No tab";
    this.#heading.hidden = tabs.length === 0;
    this.#list.replaceChildren(...entries(pages, topmost(pages), awaited));
    const others = tabs.filter((tab) => tab !== shown);
    this.#beside.replaceChildren(...others.map((tab) => element("section", { "data-tab": tab.uri },
      element("h3", {}, `Tab ${tab.uri} · ${tab.pages?.length ? "in the background" : "not opened"}`),
      element("ol", { class: "stack" }, ...entries(tab.pages ?? [], undefined, awaited)))));
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
 * @param {Awaited} awaited
 * @returns {HTMLLIElement[]}
 */
function entries(pages, top, awaited) {
  return [...pages].reverse().map((page) => {
    const kind = technology(page.uri);
    const modal = page.pages?.length
      ? element("ol", { class: "stack modal", "aria-label": "Modal stack" }, ...entries(page.pages, top, awaited))
      : null;
    return element("li", { "data-page": page.id, "data-technology": kind, "aria-current": page.id === top ? "true" : null },
      modal,
      element("div", { class: "stack-page" },
        element("span", { class: "chip", "data-technology": kind }, kind),
        element("span", { class: "stack-uri" }, short(page.uri)),
        element("span", { class: "stack-detail", title: page.host ? `rendered by ${page.host}` : null }, `${page.style} · ${page.id}`,
          awaited.has(page.id) && element("span", { class: "stack-awaited" }, ` · awaited by ${awaited.get(page.id)?.from}`))));
  });
}

/** @param {string} uri without the server's own address, which says nothing */
function short(uri) {
  return uri.startsWith(location.origin) ? uri.slice(location.origin.length) : uri;
}
