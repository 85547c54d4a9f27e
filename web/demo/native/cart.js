// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { group, row } from "./row.js";

/** @typedef {{count: number, total: {amount: number, currency: string}, lines: {sku: string, name?: string, count: number}[]}} Cart */

/**
 * The cart of the session, which the server keeps. It publishes each change on the topic `cart.changed`.
 * @type {import("./pages.js").NativePage}
 */
export function cart(page, shell) {
  const { bridge } = shell;
  const result = new ResultView();
  const lines = element("div", {});
  /** @type {Cart} */
  let shown = { count: 0, total: { amount: 0, currency: "EUR" }, lines: [] };
  const show = (/** @type {Cart} */ cart) => {
    shown = cart;
    lines.replaceChildren(cart.lines.length > 0
      ? group(`${cart.count} for ${inWords(cart.total)}`, ...cart.lines.map(({ sku, name, count }) =>
        row({ icon: "bag", title: `${count} × ${name ?? sku}`, detail: `native://product/${sku}`, press: () => shell.attempt(bridge.open(`native://product/${encodeURIComponent(sku)}`, {}, { from: page.id })) })))
      : element("p", { class: "hint" }, "The cart is empty."));
  };
  show(shown);
  const closed = bridge.subscribe(["cart.changed"], ({ data }) => show(data));
  bridge.invoke("action://cart/contents").then(show, () => {});
  const content = element("div", { class: "content" }, lines, result.element,
    element("button", {
      type: "button", class: "secondary",
      onclick: () => void result.run("Added", async () => bridge.invoke("action://cart/add", { sku: "trail-mug" }), ({ count }) => `${count} in the cart`),
    }, "Add a trail mug"),
    element("button", {
      type: "button", class: "primary", onclick: () => shell.attempt(bridge.finish(shown.lines, { page: page.id })),
    }, "Done"));
  return { title: "Cart", content: [content], methods: { total: () => shown.total }, closed };
}

/** @param {Cart["total"]} money */
function inWords({ amount, currency }) {
  return `${(amount / 100).toFixed(2)} ${currency}`;
}
