// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/**
 * Replaces a broken page, by a redirect of the route table.
 * @type {import("./pages.js").NativePage}
 */
export function error(page, shell) {
  const content = element("div", { class: "content centred" },
    element("span", { class: "emblem" }, icon("tool")),
    element("p", { class: "lead" }, String(page.params.reason)),
    element("p", { class: "hint" }, "The rest of the app works. Please try again later."),
    element("button", { class: "primary", type: "button", onclick: () => shell.back(page.id) }, "Go back"));
  return { title: "Out of order", content: [content] };
}
