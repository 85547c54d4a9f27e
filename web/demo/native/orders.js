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
 * The orders of the logged-in user. Returns the selected order to the opener.
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
    element("p", { class: "hint" }, "This page needs a login. The server held the call until the user was logged in."));
  return { title: "My orders", content: [content] };
}

/**
 * Returns the name of the user to the Swift code that opened it.
 * @type {import("./pages.js").NativePage}
 */
export function login(page, shell) {
  const logIn = (/** @type {FormData} */ fields) =>
    shell.bridge.finish({ name: String(fields.get("name")).trim() }, { page: page.id });
  const wanted = page.params.uri;
  return {
    title: "Log in",
    content: [element("div", { class: "content" },
      wanted ? element("p", { class: "hint" }, "After the login, the server opens ", element("code", {}, String(wanted)), ".") : "",
      form("Log in", logIn,
        element("label", {}, "Name",
          element("input", {
            type: "text", name: "name", required: true, pattern: ".*\\S.*", maxlength: 40, value: "Mira Holm", autocomplete: "off",
          })),
        element("p", { class: "hint" }, "Any name works: the demo has no passwords.")))],
  };
}
