// @ts-check
import { element } from "../shared/dom.js";
import { sample } from "../shared/sample.js";

/**
 * A page that this view has no drawing of: what the table says of its route, what it was given, and an end with a result that fits.
 * @param {import("./view.js").Page} page
 * @param {import("./view.js").Context} context
 * @param {import("../shared/sample.js").Route} route
 * @returns {import("./view.js").Scaffold}
 */
export function declared(page, { pop }, route) {
  const result = route.result && sample(route.result);
  const given = Object.entries(page.params).flatMap(([name, value]) => [
    element("dt", {}, route.parameters?.[name]?.title ?? name),
    element("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
  ]);
  const body = element("main", { class: "body" },
    element("p", { class: "about" }, route.purpose),
    element("dl", { class: "given" }, element("dt", {}, "URI"), element("dd", {}, page.uri), ...given),
    result !== undefined && element("pre", { class: "sample", tabindex: 0, "aria-label": "The result" }, JSON.stringify(result, null, 2)),
    element("button", { class: "filled", type: "button", onclick: () => pop(result) }, result === undefined ? "Done" : "Finish with this"));
  return { title: route.title ?? route.name, body };
}
