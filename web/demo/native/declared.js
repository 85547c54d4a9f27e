// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { sample, sampleParams } from "../shared/sample.js";
import { group, row } from "./row.js";

/** @typedef {import("./pages.js").NativePage} NativePage */

/**
 * A page without an implementation: shows the declaration of its route and its parameters, and returns a valid result.
 * @type {NativePage}
 */
export function declared(page, shell) {
  const { bridge } = shell;
  const route = shell.route(page.route);
  const given = Object.entries(page.params);
  const answers = new ResultView();
  const methods = Object.entries(route.methods ?? {}).map(([name, method]) => row({
    icon: "chat", title: method.title ?? name, detail: `page.call ${name}`,
    press: () => answers.run(name, async () => bridge.call(page.id, name, sampleParams(method, Object.keys(method.parameters ?? {}))), JSON.stringify),
  }));
  const result = route.result && sample(route.result);
  const content = element("div", { class: "content" },
    element("p", { class: "lead" }, route.purpose ?? "The route table declares no purpose for this page."),
    given.length > 0
      ? element("dl", { class: "given" }, ...given.flatMap(([name, value]) =>
        [element("dt", {}, route.parameters?.[name]?.title ?? name), element("dd", {}, inWords(value))]))
      : element("p", { class: "hint" }, "It was opened without parameters."),
    methods.length > 0 && group("Methods of the open page", ...methods),
    answers.element,
    element("div", { class: "ending" },
      result !== undefined && element("pre", { class: "sample", tabindex: 0, "aria-label": "The result" }, JSON.stringify(result, null, 2)),
      element("button", {
        class: "primary", type: "button", onclick: () => shell.attempt(bridge.finish(result, { page: page.id })),
      }, result === undefined ? "Done" : "Finish with this")));
  return { title: route.title ?? page.route ?? page.uri, tall: true, content: [content] };
}

/** @param {unknown} value */
function inWords(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
