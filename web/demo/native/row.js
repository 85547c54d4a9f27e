// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/**
 * A line of a list that does something.
 * @param {{icon: import("../shared/icons.js").IconName, title: string, detail: string, technology?: string,
 *   selected?: boolean, press: () => void}} row
 * @returns {HTMLLIElement}
 */
export function row({ icon: name, title, detail, technology, selected, press }) {
  return element("li", {},
    element("button", { class: "row", type: "button", "aria-current": selected ? "true" : null, onclick: press },
      element("span", { class: "row-icon", "data-technology": technology }, icon(name)),
      element("span", { class: "row-text" },
        element("span", { class: "row-title" }, title),
        element("span", { class: "row-detail" }, detail)),
      technology
        ? element("span", { class: "chip", "data-technology": technology }, technology)
        : icon(selected ? "check" : "forward")));
}

/**
 * @param {string} title
 * @param {...HTMLLIElement} rows
 * @returns {HTMLElement}
 */
export function group(title, ...rows) {
  return element("section", { class: "group" },
    element("h3", {}, title), element("ul", { class: "rows" }, ...rows));
}
