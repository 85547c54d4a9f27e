// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/**
 * Replaces a page that only a later version of the app has.
 * @type {import("./pages.js").NativePage}
 */
export function upgrade(page, shell) {
  const content = element("div", { class: "content centred" },
    element("span", { class: "emblem" }, icon("rocket")),
    element("p", { class: "lead" }, "This version of the app has no page for"),
    element("code", { class: "uri" }, String(page.params.uri)),
    element("p", { class: "lead" }, "A newer version does."),
    element("button", { class: "primary", type: "button", onclick: () => shell.back(page.id) }, "Go back"));
  return { title: "Time to upgrade", content: [content] };
}
