// @ts-check
import { element } from "../shared/dom.js";
import { group, row } from "./row.js";
import { form } from "./step.js";

const known = [
  { id: 1041, name: "Trail mug", state: "delivered" },
  { id: 1042, name: "Rain cape", state: "open" },
  { id: 1043, name: "Tin lantern", state: "open" },
];

/**
 * The orders of whoever is logged in: nobody else gets here. Gives the one that is picked to the page that opened it.
 * @type {import("./pages.js").NativePage}
 */
export function orders(page, shell) {
  const isOpen = page.params.filter === "open";
  const shown = known.filter(({ state }) => !isOpen || state === "open");
  const rows = shown.map((order) => row({
    icon: "bag", title: order.name, detail: `${order.id} · ${order.state}`,
    press: () => shell.attempt(shell.bridge.finish(order, { page: page.id })),
  }));
  const content = element("div", { class: "content" },
    group(isOpen ? "On their way" : "All orders", ...rows),
    element("p", { class: "hint" }, "This page needs a login. The call that opened it was held until there was one."));
  return { title: "My orders", content: [content] };
}

/**
 * Gives the name of who logs in to the Swift code that opened it.
 * @type {import("./pages.js").NativePage}
 */
export function login(page, shell) {
  const go = (/** @type {FormData} */ fields) =>
    shell.bridge.finish({ name: String(fields.get("name")).trim() }, { page: page.id });
  const wanted = page.params.uri;
  return {
    title: "Log in",
    content: [element("div", { class: "content" },
      wanted ? element("p", { class: "hint" }, "You get to ", element("code", {}, String(wanted)), " right after it.") : "",
      form("Log in", go,
        element("label", {}, "Name",
          element("input", {
            type: "text", name: "name", required: true, pattern: ".*\\S.*", maxlength: 40, value: "Mira Holm", autocomplete: "off",
          })),
        element("p", { class: "hint" }, "Any name will do: this demo has no passwords.")))],
  };
}
