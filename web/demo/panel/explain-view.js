// @ts-check
import { byId, element } from "../shared/dom.js";
import { explain as errorText } from "../shared/result.js";

/** @typedef {Record<string, any>} Explanation the result of `router.explain` */

/** @type {Record<string, string>} the source of a parameter */
const origins = { path: "from the path", query: "from the query", params: "from the caller", default: "default value" };

/** The panel that shows how the server resolves a URI. It opens nothing. */
export class ExplainView {
  #form = byId("explain", HTMLFormElement);
  #field = byId("explain-uri", HTMLInputElement);
  #output = byId("explanation", HTMLElement);
  #requestNumber = 0;

  /** @param {(uri: string) => Promise<Explanation>} ask */
  constructor(ask) {
    this.#form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const number = (this.#requestNumber += 1);
      const drawn = await ask(this.#field.value.trim()).then(withNearest, (error) => [element("p", { class: "error" }, errorText(error))]);
      // Only the result of the last request is shown.
      if (number !== this.#requestNumber) return;
      this.#output.hidden = false;
      this.#output.replaceChildren(...drawn);
    });
    byId("examples", HTMLElement).addEventListener("click", ({ target }) => {
      if (!(target instanceof HTMLButtonElement)) return;
      this.#field.value = target.textContent ?? "";
      this.#form.requestSubmit();
    });
  }
}

/**
 * Draws an explanation. The candidates of an undeclared URI are sorted by their similarity.
 * @param {Explanation} explanation
 */
async function withNearest(explanation) {
  if (!isUndeclared(explanation)) return draw(explanation);
  // A server can serve the demo without the inspector.
  const ranking = await import("../../inspector/nearest-routes.js").catch(() => undefined);
  const candidates = ranking?.nearestRoutes(explanation.uri, explanation.candidates) ?? explanation.candidates;
  return draw({ ...explanation, candidates });
}

/** @param {Explanation} explanation whether no declared route matches the URI */
function isUndeclared({ uri, route, candidates, redirects }) {
  return !route && redirects.length === 0 && /^[a-z][a-z0-9+.-]*:/i.test(uri) && !candidates.some((/** @type {any} */ { chosen }) => chosen);
}

/**
 * @param {Explanation} explanation
 * @returns {HTMLElement[]}
 */
function draw(explanation) {
  const { canOpen, kind, route, params, sources, candidates, redirects, interceptors, gates, fallback, host, reason } = explanation;
  const undeclared = isUndeclared(explanation);
  const what = [kind, route?.name].filter(Boolean).join(" ");
  const facts = [
    fact("Route", what),
    fact("Pattern", route?.pattern),
    fact("Handled by", host),
    fact("Fallback", fallback),
    ...redirects.map((/** @type {string} */ uri) => fact("Redirected to", uri)),
    fact("Interceptors", interceptors.join(", ")),
    fact("Gates", gates.join(", ")),
    ...Object.entries(params).map(([name, value]) => fact(`:${name}`, JSON.stringify(value), origins[sources[name]])),
  ].flat();
  return [
    element("p", { class: "verdict", "data-opens": String(canOpen) },
      element("strong", {}, undeclared ? "No route" : canOpen ? "Opens" : "Does not open"), `${undeclared ? ":" : ""} ${reason}`),
    element("dl", { class: "facts" }, ...facts),
    element("ul", { class: "candidates" }, ...candidates.map(candidate)),
  ];
}

/**
 * @param {string} name
 * @param {string | null | undefined} text
 * @param {string} [note]
 * @returns {HTMLElement[]} empty without a text
 */
function fact(name, text, note) {
  if (!text) return [];
  return [element("dt", {}, name), element("dd", {}, element("code", {}, text), note && ` ${note}`)];
}

/** @param {{route: string, pattern: string, chosen: boolean, reason: string}} candidate */
function candidate({ route, pattern, chosen, reason }) {
  return element("li", { "data-chosen": String(chosen) },
    element("code", {}, pattern), element("span", {}, `${chosen ? "chosen" : "not chosen"}: ${reason}`), element("small", {}, route));
}
