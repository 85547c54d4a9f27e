// @ts-check
import { expansions } from "../uri/pattern.js";
import { expandTemplate, placeholders } from "../uri/uri-template.js";
import { randomID } from "../values/random-id.js";
import { ended, failed, sentences, succeeded } from "./tool-result.js";

/** @typedef {Record<string, any>} Route a declared route, as `router.routes` returns it */
/**
 * @typedef {object} ToolAnnotations hints for the agent's user; they give no right
 * @property {boolean} readOnlyHint whether a call changes nothing
 * @property {boolean} destructiveHint whether a call may delete or overwrite something
 * @property {boolean} idempotentHint whether a second call with the same arguments changes nothing more
 * @property {boolean} consequentialHint as `destructiveHint`; browsers may let their user confirm such a call
 * @property {boolean} untrustedContentHint whether results can contain text of strangers
 */

/** The longest name that agents accept. */
const MAX_NAME = 64;
/** @type {Record<string, string>} values of the formats of a string */
const FORMATS = {
  "date-time": "2000-01-01T00:00:00Z", date: "2000-01-01", time: "00:00:00Z", email: "a@a.example", uri: "https://a.example/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A route as a tool for agents. */
export class RouteTool {
  #route;
  /** The URIs of the route, those with the most parameters first. */
  #templates;

  /**
   * @param {Route} route with a pattern with a scheme
   * @param {string} name
   */
  constructor(route, name) {
    this.#route = route;
    this.name = name;
    this.#templates = expansions(patternOf(route)).sort((one, other) => placeholders(other).length - placeholders(one).length);
  }

  /**
   * Returns the tools of those routes that are tools for agents, with unique names.
   * @param {Route[]} routes
   */
  static all(routes) {
    const names = new Set();
    return routes.filter((route) => route.agents !== undefined && patternOf(route) !== undefined).map((route) => {
      const base = route.name.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, MAX_NAME) || route.kind;
      let name = base;
      for (let number = 2; names.has(name); number += 1) name = `${base.slice(0, MAX_NAME - 4)}-${number}`;
      names.add(name);
      return new RouteTool(route, name);
    });
  }

  /** The route. */
  get route() {
    return this.#route;
  }

  /** A URI of the route, with invented parameters. */
  get example() {
    const [template] = this.#templates;
    const { parameters = {} } = this.#route;
    return expandTemplate("canOpen", template, Object.fromEntries(placeholders(template).map((name) => [name, sample(parameters[name])]))).uri;
  }

  /**
   * The description of the tool, without the function that runs it.
   * @param {boolean} isUntrusted whether results can contain text of strangers
   */
  definition(isUntrusted) {
    const { title, purpose, kind, agents: { readOnly, destructive, idempotent } } = this.#route;
    const description = sentences(purpose || title || this.#route.name, kind === "page" ? "Opens a page, and returns what the user has entered or chosen there." : "");
    /** @type {ToolAnnotations} */
    const annotations = {
      readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, consequentialHint: destructive, untrustedContentHint: isUntrusted,
    };
    return { name: this.name, ...(title && { title }), description, inputSchema: this.#inputSchema, annotations };
  }

  /**
   * Calls the route, and returns the result for the agent. Never rejects.
   * @param {import("../caller.js").Caller<any>} bridge
   * @param {unknown} input
   * @param {{signal?: AbortSignal, timeout?: number}} options
   * @returns {Promise<import("./tool-result.js").ToolResult>}
   */
  async call(bridge, input, options) {
    const params = /** @type {Record<string, any>} */ (input ?? {});
    // The first form of the URI with a value for each of its names, or else the one with the fewest names, whose error names what is missing.
    const template = this.#templates.find((each) => placeholders(each).every((name) => params[name] !== undefined)) ?? this.#templates[this.#templates.length - 1];
    // If the session is lost, the call is made again, and still runs once.
    const call = { ...options, key: `webmcp-${randomID()}` };
    try {
      if (this.#route.kind === "page") return ended(await bridge.open(template, params, call));
      return succeeded(await bridge.invoke(template, params, call));
    } catch (error) {
      return failed(error);
    }
  }

  get #inputSchema() {
    const { parameters = {}, required = [], strict } = this.#route;
    const [template] = this.#templates;
    const always = placeholders(template).filter((name) => name !== "*" && this.#templates.every((each) => placeholders(each).includes(name)));
    const ofPath = placeholders(template).filter((name) => !Object.hasOwn(parameters, name)).map((name) => [name, name === "*" ? REST : { type: "string" }]);
    return {
      type: "object",
      properties: { ...Object.fromEntries(ofPath), ...parameters },
      required: [...new Set([...always, ...required])],
      ...(strict && { additionalProperties: false }),
    };
  }
}

/** The schema of the parameter `*`. */
const REST = { type: "array", items: { type: "string" }, title: "The rest of the path" };

/**
 * Returns the first pattern with a scheme, and thus a known URI.
 * @param {Route} route
 * @returns {string}
 */
function patternOf({ patterns }) {
  return patterns.find((/** @type {string} */ each) => !each.startsWith("/"));
}

/**
 * Returns a value that fits the schema of a parameter of the path.
 * @param {Record<string, any>} schema
 * @returns {unknown}
 */
function sample({ type = "string", enum: [first] = [], format, minimum = 1, minLength = 0, maximum = Infinity } = {}) {
  if (first !== undefined) return first;
  if ([type].flat()[0] === "boolean") return true;
  if (["integer", "number"].includes([type].flat()[0])) return Math.ceil(Math.min(Math.max(1, minimum), maximum));
  return FORMATS[format] ?? "x".repeat(Math.max(1, minLength));
}
