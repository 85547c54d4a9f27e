// @ts-check
import { byId, element, whenOther } from "./dom.js";
import { inWords } from "./format.js";
import { nearestRoutes } from "./nearest-routes.js";

/** @type {Record<string, string>} the source of a parameter */
const origins = { path: "from the path", query: "from the query", params: "from the caller", default: "default value" };

/** Shows how the server resolves a URI for another caller, as `waybridge explain --as` does. It opens nothing. */
export class ExplainView {
  #connection;
  #output = byId("explanation", HTMLElement);
  #session = byId("explain-session", HTMLSelectElement);
  #requestNumber = 0;

  /** @param {import("./connection.js").InspectorConnection} connection */
  constructor(connection) {
    this.#connection = connection;
    byId("explain", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#explain();
    });
  }

  /**
   * Offers sessions to choose from.
   * @param {any[]} sessions as `admin.sessions` describes them
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

  async #explain() {
    const number = (this.#requestNumber += 1);
    let drawn;
    try {
      const uri = text("uri");
      const explanation = await this.#connection.request("admin.explain", { uri, ...this.#params(), as: callerOf(this.#session.value) });
      drawn = draw(explanation, isUndeclared(explanation) ? await this.#nearest(uri, explanation.candidates) : undefined);
    } catch (error) {
      drawn = [element("p", { class: "error" }, inWords(error))];
    }
    // Only the result of the last request is shown.
    if (number !== this.#requestNumber) return;
    this.#output.hidden = false;
    this.#output.replaceChildren(...drawn);
  }

  /**
   * Returns the declared routes that are most similar to a URI, with the server's reason why a route does not match, if it gave one.
   * @param {string} uri
   * @param {Candidate[]} candidates the near misses that the server found
   * @returns {Promise<Candidate[]>}
   */
  async #nearest(uri, candidates) {
    /** @type {{routes: import("./routes-view.js").Route[]}} */
    const { routes } = await this.#connection.request("admin.routes").catch(() => ({ routes: [] }));
    const known = new Map(candidates.map((candidate) => [`${candidate.route} ${candidate.pattern}`, candidate]));
    for (const { name, patterns } of routes) {
      for (const pattern of patterns) {
        const key = `${name} ${pattern}`;
        if (!known.has(key)) known.set(key, { route: name, pattern, chosen: false, reason: "" });
      }
    }
    return nearestRoutes(uri, [...known.values()]);
  }

  #params() {
    const given = text("params");
    if (given === "") return {};
    try {
      return { params: JSON.parse(given) };
    } catch {
      throw new Error("The parameters are not valid JSON. Write an object such as {\"id\": 7}");
    }
  }
}

/** @param {string} name */
function text(name) {
  return byId(`explain-${name}`, HTMLInputElement).value.trim();
}

/** @param {string} session */
function callerOf(session) {
  const groups = text("groups").split(",").map((group) => group.trim()).filter(Boolean);
  const [user, origin, name, version] = ["user", "origin", "client", "version"].map((each) => text(each) || undefined);
  return {
    origin,
    token: user || groups.length > 0 ? { sub: user, groups: groups.length > 0 ? groups : undefined } : undefined,
    client: name || version ? { name, version } : undefined,
    session: session || undefined,
  };
}

/** @typedef {{route: string, pattern: string, chosen: boolean, reason: string}} Candidate */

/** @param {Record<string, any>} explanation whether no declared route matches the URI */
function isUndeclared({ uri, route, candidates, redirects }) {
  return /^[a-z][a-z0-9+.-]*:/i.test(uri) && !route && redirects.length === 0 && !candidates.some((/** @type {Candidate} */ { chosen }) => chosen);
}

/**
 * @param {Record<string, any>} explanation
 * @param {Candidate[] | undefined} nearest the nearest routes of an undeclared URI
 * @returns {(HTMLElement | string)[]}
 */
function draw({ canOpen, kind, route, params, sources, candidates, redirects, releases = [], interceptors, fallback, host, policy, reason }, nearest) {
  const facts = [
    fact("Route", [kind, route?.name].filter(Boolean).join(" ")),
    fact("Pattern", route?.pattern),
    fact("Handled by", host),
    fact("Denied by", policy, "a rule of the policy"),
    fact("Fallback", fallback),
    ...redirects.map((/** @type {string} */ uri) => fact("Redirected to", uri)),
    fact("Interceptors", interceptors.join(", ")),
    ...releases.map((/** @type {any} */ release) => fact("Release", typeof release === "string" ? release : JSON.stringify(release))),
    ...Object.entries(params ?? {}).map(([name, value]) => fact(`:${name}`, JSON.stringify(value), origins[sources?.[name]])),
  ].flat();
  return [
    element("p", { class: "verdict", "data-opens": String(canOpen) },
      element("strong", {}, nearest ? "No route" : canOpen ? "Opens" : "Does not open"), `${nearest ? ":" : ""} ${reason ?? ""}`),
    element("dl", { class: "facts" }, ...facts),
    nearest ? element("h3", {}, "Nearest routes") : "",
    element("ul", { class: "candidates", "aria-label": nearest ? "Nearest routes" : "Candidates" }, .../** @type {Candidate[]} */ (nearest ?? candidates).map(candidate)),
  ];
}

/**
 * @param {string} name
 * @param {string | null | undefined} value
 * @param {string} [note]
 * @returns {HTMLElement[]} empty without a value
 */
function fact(name, value, note) {
  if (!value) return [];
  return [element("dt", {}, name), element("dd", {}, element("code", {}, value), note && ` ${note}`)];
}

/** @param {Candidate} candidate */
function candidate({ route, pattern, chosen, reason }) {
  return element("li", { "data-chosen": String(chosen) },
    element("code", {}, pattern), element("span", {}, reason && `${chosen ? "chosen" : "not chosen"}: ${reason}`), element("small", {}, route));
}
