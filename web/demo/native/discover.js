// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { group, row } from "./row.js";

const blueMug = new URL("pages/shop.html?color=blue", document.baseURI).href;

/** @type {import("./pages.js").NativePage} */
export function discover(page, shell) {
  const { bridge } = shell;
  const result = new ResultView();
  const from = page.id;
  const content = element("div", { class: "content" },
    group("Go somewhere",
      row({
        icon: "compass", title: "Plan a trip", detail: "A modal stack of pages", technology: "native",
        press: () => result.open("Plan", async () => bridge.open("native://plan/place", {}, { from, style: "present" }), () => "planned"),
      }),
      row({
        icon: "lock", title: "My orders", detail: "native://orders, needs a login", technology: "native",
        press: () => result.open("Order", async () => bridge.open("native://orders?filter=open", {}, { from }),
          ({ id, name }) => `${id}, ${name}`),
      }),
      row({
        icon: "bag", title: "The blue mug", detail: "shop.html?color=blue", technology: "web",
        // No result is awaited here: the page belongs to its first opener, too.
        press: () => shell.attempt(bridge.open(blueMug, { title: "Outfitters" }, { from, style: "popTo" })),
      })),
    group("Look around",
      row({
        icon: "note", title: "All routes", detail: "Every page and task of the table", technology: "native",
        press: () => result.open("All routes", async () => bridge.open("native://directory", {}, { from }), () => "closed"),
      }),
      row({
        icon: "bag", title: "Cart", detail: "native://cart, with the topic cart.changed", technology: "native",
        press: () => result.open("Cart", async () => bridge.open("native://cart", {}, { from }), (lines) => `${lines.length} products`),
      })),
    group("Open a deep link",
      row({
        icon: "link", title: "An old URI", detail: "native://contacts/a2", technology: "native",
        press: () => result.open("Address", async () => bridge.open("native://contacts/a2", {}, { from }),
          ({ name, city }) => `${name}, ${city}`),
      }),
      row({
        icon: "rocket", title: "A URI of a later version", detail: "native://future/thing", technology: "native",
        press: () => result.open("Upgrade", async () => bridge.open("native://future/thing", {}, { from }), () => "upgraded"),
      }),
      row({
        icon: "pin", title: "To another app", detail: "tp://maps?i=geo%3A52.5%2C13.4", technology: "tp",
        press: () => result.run("Maps", async () => bridge.invoke("tp://maps?i=geo%3A52.5%2C13.4"),
          ({ uri, opened }) => (opened ? `opened ${uri}` : "stayed here")),
      })),
    result.element);
  return { title: "Discover", root: true, content: [content] };
}
