// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/**
 * Gives `{count}` to the page that opened it.
 * @param {import("./view.js").Page} page
 * @param {import("./view.js").Context} context
 * @returns {import("./view.js").Scaffold}
 */
export function counter(page, { pop }) {
  let count = Number(page.params.start ?? 0);
  const number = element("output", { class: "count" }, String(count));
  const add = (by = 1) => {
    count += by;
    number.textContent = String(count);
    return count;
  };
  const body = element("main", { class: "body centred" },
    element("p", {}, "You have pushed the button this many times:"), number,
    element("button", { class: "fab", type: "button", "aria-label": "Increment", onclick: () => add() }, icon("plus")));
  const done = element("button", { class: "text-button", type: "button", onclick: () => pop({ count }) }, "Done");
  return { title: "Counter", body, actions: [done], methods: { add: ({ by }) => add(by) } };
}
