// @ts-check
import { element } from "../shared/dom.js";

/**
 * Asks the user before another app is opened, and finishes when the user agrees.
 * @type {import("./pages.js").NativePage}
 */
export function handoff(page, shell) {
  const app = String(page.params.app);
  const name = app.charAt(0).toUpperCase() + app.slice(1);
  const content = element("div", { class: "content" },
    element("div", { class: "uri-card" },
      element("span", {}, `${name} opens`),
      element("code", {}, String(page.params.uri))),
    element("button", {
      class: "primary", type: "button",
      onclick: () => shell.attempt(shell.bridge.finish({ opened: true }, { page: page.id })),
    }, `Open ${name}`));
  return { title: `Leave for ${name}?`, content: [content] };
}
