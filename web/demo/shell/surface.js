// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */

/**
 * The surface of a page: a bar with its title and the way back, and its content.
 * @param {Page} page
 * @param {{title: string, root?: boolean, tall?: boolean, back: () => void}} options a `root` page has no way back; a `tall`
 *   one is as high as the screen lets a sheet be
 * @param {...Node} content
 * @returns {HTMLElement}
 */
export function surface(page, { title, root = false, tall = false, back }, ...content) {
  const heading = `title-${page.id}`;
  const modal = page.style === "present";
  const bar = element("header", { class: "bar" },
    !root && element("button",
      { class: "bar-back", type: "button", "aria-label": modal ? "Close" : "Back", onclick: back },
      icon(modal ? "close" : "back")),
    element("h2", { id: heading, tabindex: -1, "data-focus": true }, title));
  return element("section", { "data-page": page.id, "data-uri": page.uri, "aria-labelledby": heading },
    element("div", { class: tall ? "panel tall" : "panel" }, bar, ...content));
}
