// @ts-check
import { byId, element } from "../shared/dom.js";
import { explain as errorText } from "../shared/result.js";

/** @typedef {Record<string, any>} Explanation what `router.explain` answers */

/** @type {Record<string, string>} where a parameter comes from */
const origins = { path: "from the path", query: "from the query", params: "from the caller", default: "by default" };

/** The box that tells how a URI is read: nothing of it is opened. */
export class ExplainView {
  #form = byId("explain", HTMLFormElement);
  #field = byId("explain-uri", HTMLInputElement);
  #output = byId("explanation", HTMLElement);
  #asked = 0;

  /** @param {(uri: string) => Promise<Explanation>} ask */
  constructor(ask) {
    this.#form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const number = (this.#asked += 1);
      const drawn = await ask(this.#field.value.trim()).then(draw, (error) => [element("p", { class: "error" }, errorText(error))]);
      // Only the last question is answered.
      if (number !== this.#asked) return;
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
 * @param {Explanation} answer
 * @returns {HTMLElement[]}
 */
function draw({ canOpen, kind, route, params, sources, candidates, redirects, interceptors, fallback, host, reason }) {
  const what = [kind, route?.name].filter(Boolean).join(" ");
  const facts = [
    fact("Leads to", what),
    fact("By", route?.pattern),
    fact("Served by", host),
    fact("Else", fallback),
    ...redirects.map((/** @type {string} */ uri) => fact("Redirected to", uri)),
    fact("Seen by", interceptors.join(", ")),
    ...Object.entries(params).map(([name, value]) => fact(`:${name}`, JSON.stringify(value), origins[sources[name]])),
  ].flat();
  return [
    element("p", { class: "verdict", "data-opens": String(canOpen) },
      element("strong", {}, canOpen ? "Opens" : "Does not open"), ` ${reason}`),
    element("dl", { class: "facts" }, ...facts),
    element("ul", { class: "candidates" }, ...candidates.map(candidate)),
  ];
}

/**
 * @param {string} name
 * @param {string | null | undefined} text
 * @param {string} [note]
 * @returns {HTMLElement[]} none where there is nothing to tell
 */
function fact(name, text, note) {
  if (!text) return [];
  return [element("dt", {}, name), element("dd", {}, element("code", {}, text), note && ` ${note}`)];
}

/** @param {{route: string, pattern: string, chosen: boolean, reason: string}} candidate */
function candidate({ route, pattern, chosen, reason }) {
  return element("li", { "data-chosen": String(chosen) },
    element("code", {}, pattern), element("span", {}, `${chosen ? "chosen" : "not"}: ${reason}`), element("small", {}, route));
}
