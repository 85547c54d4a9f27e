// @ts-check
import { byId, element, whenOther } from "./dom.js";
import { inWords } from "./format.js";

/** @type {Record<string, string>} where a parameter comes from */
const origins = { path: "from the path", query: "from the query", params: "from the caller", default: "by default" };

/** How a URI is read for somebody else, as `waybridge explain --as` tells it: nothing of it is opened. */
export class ExplainView {
  #link;
  #output = byId("explanation", HTMLElement);
  #session = byId("explain-session", HTMLSelectElement);
  #asked = 0;

  /** @param {import("./link.js").Link} link */
  constructor(link) {
    this.#link = link;
    byId("explain", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#ask();
    });
  }

  /**
   * Offers these sessions.
   * @param {any[]} sessions as `admin.sessions` tells them
   */
  offer(sessions) {
    this.#list(sessions.map(({ session, user, clients }) => ({ session, text: `${user ?? clients[0]?.name ?? ""} ${session}`.trim() })));
  }

  #list = whenOther((/** @type {{session: string, text: string}[]} */ sessions) => {
    const chosen = this.#session.value;
    const names = sessions.map(({ session, text }) => element("option", { value: session }, text));
    this.#session.replaceChildren(element("option", { value: "" }, "none"), ...names);
    this.#session.value = sessions.some(({ session }) => session === chosen) ? chosen : "";
  });

  async #ask() {
    const number = (this.#asked += 1);
    let drawn;
    try {
      drawn = draw(await this.#link.request("admin.explain", { uri: text("uri"), ...this.#params(), as: asker(this.#session.value) }));
    } catch (error) {
      drawn = [element("p", { class: "error" }, inWords(error))];
    }
    // Only the last question is answered.
    if (number !== this.#asked) return;
    this.#output.hidden = false;
    this.#output.replaceChildren(...drawn);
  }

  #params() {
    const given = text("params");
    if (given === "") return {};
    try {
      return { params: JSON.parse(given) };
    } catch {
      throw new Error("The params are no JSON: write an object, {\"id\": 7}");
    }
  }
}

/** @param {string} name */
function text(name) {
  return byId(`explain-${name}`, HTMLInputElement).value.trim();
}

/** @param {string} session */
function asker(session) {
  const groups = text("groups").split(",").map((group) => group.trim()).filter(Boolean);
  const [user, origin, name, version] = ["user", "origin", "client", "version"].map((each) => text(each) || undefined);
  return {
    origin,
    token: user || groups.length > 0 ? { sub: user, groups: groups.length > 0 ? groups : undefined } : undefined,
    client: name || version ? { name, version } : undefined,
    session: session || undefined,
  };
}

/**
 * @param {Record<string, any>} answer
 * @returns {HTMLElement[]}
 */
function draw({ canOpen, kind, route, params, sources, candidates, redirects, releases = [], interceptors, fallback, host, policy, reason }) {
  const facts = [
    fact("Leads to", [kind, route?.name].filter(Boolean).join(" ")),
    fact("By", route?.pattern),
    fact("Served by", host),
    fact("Refused by", policy, "a rule of the policy"),
    fact("Else", fallback),
    ...redirects.map((/** @type {string} */ uri) => fact("Redirected to", uri)),
    fact("Seen by", interceptors.join(", ")),
    ...releases.map((/** @type {any} */ release) => fact("Release", typeof release === "string" ? release : JSON.stringify(release))),
    ...Object.entries(params ?? {}).map(([name, value]) => fact(`:${name}`, JSON.stringify(value), origins[sources?.[name]])),
  ].flat();
  return [
    element("p", { class: "verdict", "data-opens": String(canOpen) },
      element("strong", {}, canOpen ? "Opens" : "Does not open"), ` ${reason ?? ""}`),
    element("dl", { class: "facts" }, ...facts),
    element("ul", { class: "candidates", "aria-label": "Candidates" }, ...candidates.map(candidate)),
  ];
}

/**
 * @param {string} name
 * @param {string | null | undefined} value
 * @param {string} [note]
 * @returns {HTMLElement[]} none where there is nothing to tell
 */
function fact(name, value, note) {
  if (!value) return [];
  return [element("dt", {}, name), element("dd", {}, element("code", {}, value), note && ` ${note}`)];
}

/** @param {{route: string, pattern: string, chosen: boolean, reason: string}} candidate */
function candidate({ route, pattern, chosen, reason }) {
  return element("li", { "data-chosen": String(chosen) },
    element("code", {}, pattern), element("span", {}, `${chosen ? "chosen" : "not"}: ${reason}`), element("small", {}, route));
}
