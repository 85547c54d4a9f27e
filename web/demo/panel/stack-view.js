// @ts-check
import { element } from "../shared/dom.js";
import { technology } from "../shell/stack.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */

/** The live stack, topmost page first; a modal stack lies in the page that presents it. */
export class StackView {
  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.list = list;
  }

  /** @param {Page[]} pages bottom first */
  show(pages) {
    this.list.replaceChildren(...entries(pages, topmost(pages)));
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
