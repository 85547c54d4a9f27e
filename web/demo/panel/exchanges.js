// @ts-check
import { technology } from "../shell/stack.js";
import { read } from "./message.js";

/** @typedef {import("./message.js").Message} Message */
/** @typedef {import("../shared/tap.js").Site} Site */
/** @typedef {"shell" | "web" | "flutter"} Who */
/** @typedef {"in" | "out"} Direction "out" goes to the server */
/** @typedef {import("../shell/stack.js").Technology | "swift"} Party who makes or answers a call */

/**
 * What passes a socket and what comes of it: a request with its answer, a notification, or a text that is no message.
 * @typedef {object} Exchange
 * @property {Who} who whose socket
 * @property {Direction} direction
 * @property {"request" | "notification" | "result" | "error" | "unknown"} kind what it is by now: a request is one until it is answered
 * @property {string} title the method
 * @property {string} detail what it is about: a URI, a page
 * @property {string} ending what came of it
 * @property {string[]} bodies indented JSON, in the order in which it passed
 * @property {string[]} words what has happened to it on its way, for people
 * @property {string} [uri] what is called
 * @property {boolean} hasKey whether it is one call however often it is asked: such a call outlives the server, as does one whose page is shown
 * @property {string} [page] the page that its client runs in
 * @property {string} [opened] the page that it has opened
 * @property {Site} [site] the line that has made the call
 * @property {string} [task] the pattern under which a client has been asked to run a task
 * @property {Party} from
 * @property {Party} to
 * @property {number} began milliseconds of the document's clock
 * @property {number} [took] milliseconds
 */

/** The calls of an app, as the others are those of the client itself. */
const calls = ["router.open", "router.invoke", "page.call"];
/** Exchanges without an answer, and pages, beyond which the oldest are forgotten. */
const remembered = 200;

/** Reads messages as they pass: puts answers, progress and resumed calls to their requests. */
export class Exchanges {
  /** @type {Map<string, Exchange>} requests without an answer, by client, direction and id */
  #open = new Map();
  /** @type {Map<string, {uri: string, party: Party}>} by page id */
  #pages = new Map();

  /** @returns {Exchange[]} calls of the app that are not answered, the oldest first */
  get running() {
    return [...this.#open.values()].filter(({ title, direction, uri = "" }) =>
      direction === "out" && calls.includes(title) && !uri.startsWith("demo:"));
  }

  /** @returns {Map<string, Exchange>} running calls by the page that they wait for */
  get awaited() {
    return new Map(this.running.flatMap((call) => (call.opened ? [[call.opened, call]] : [])));
  }

  /**
   * What a page is, which a client was asked to show.
   * @param {string} id
   */
  pageURI(id) {
    return this.#pages.get(id)?.uri;
  }

  /**
   * @param {Who} who
   * @param {Direction} direction
   * @param {string} text
   * @param {{site?: Site, page?: string}} [more]
   * @returns {{exchange: Exchange, isNew: boolean}[]} those that are new, and those that have changed
   */
  take(who, direction, text, more = {}) {
    return read(text).flatMap((message) => {
      if (message.kind === "request" || message.kind === "notification" || message.kind === "unknown") {
        return this.#said(who, direction, message, more);
      }
      return this.#answered(who, direction, message);
    });
  }

  /**
   * @param {Who} who
   * @param {Direction} direction
   * @param {Message} message
   * @param {{site?: Site, page?: string}} more
   */
  #said(who, direction, message, { site, page }) {
    const { kind, method: title, params, id, about: detail, body } = message;
    if (title === "$/progress") {
      const call = this.#open.get(key(who, other(direction), params?.id));
      if (call) return [this.#progressed(call, message)];
    }
    /** @type {Exchange} */
    const exchange = {
      who, direction, kind, title, detail, ending: "", bodies: [body], words: [], uri: params?.uri, page, hasKey: params?.key !== undefined, began: performance.now(),
      from: who === "shell" ? "native" : who, to: answerer(title, params), ...(kind === "request" && { site }),
    };
    if (direction === "in") this.#asked(exchange, params);
    // What is sent again after a connection was lost is what was sent before.
    const place = key(who, direction, id);
    const before = kind === "request" ? this.#open.get(place) : undefined;
    if (before) return [{ exchange: before, isNew: false }];
    if (kind === "request") remember(this.#open, place, exchange);
    return [{ exchange, isNew: true }];
  }

  /**
   * A client is asked to show a page or to run a task: that tells where the call that it belongs to has gone.
   * @param {Exchange} exchange
   * @param {any} params
   */
  #asked(exchange, params) {
    const { page } = params ?? {};
    if (exchange.title === "page.open" && page?.id) remember(this.#pages, page.id, { uri: page.uri, party: technology(page.uri) });
    if (exchange.title !== "task.run") return;
    exchange.task = params?.host?.pattern;
    const call = this.running.find(({ uri }) => uri === params?.uri);
    if (call) Object.assign(call, { to: exchange.from, task: exchange.task });
  }

  /**
   * @param {Exchange} call
   * @param {Message} message
   */
  #progressed(call, { params, body }) {
    call.bodies.push(body);
    const page = params.value?.opened?.page;
    if (page) Object.assign(call, { opened: page, to: this.#pages.get(page)?.party ?? call.to });
    return { exchange: call, isNew: false };
  }

  /**
   * @param {Who} who
   * @param {Direction} direction
   * @param {Message} message
   */
  #answered(who, direction, message) {
    const place = key(who, other(direction), message.id);
    const asked = this.#open.get(place);
    const kind = message.kind === "error" ? "error" : "result";
    if (!asked) {
      /** @type {Exchange} */
      const alone = {
        who, direction, kind, title: "answer", detail: message.about, ending: "", bodies: [message.body], words: [], hasKey: false,
        began: performance.now(), from: "native", to: "native",
      };
      return [{ exchange: alone, isNew: true }];
    }
    this.#open.delete(place);
    asked.bodies.push(message.body);
    Object.assign(asked, { kind, ending: message.ending, took: performance.now() - asked.began });
    if (!asked.detail) asked.detail = message.about;
    if (message.error?.code === 2599 && !asked.hasKey) {
      asked.words.push("This call had no key: whether it was carried out when the server was killed, nobody knows. With a key it would have gone on.");
    }
    const others = asked.title === "session.resume" && message.result ? this.#resumed(asked, message.result) : [];
    return [{ exchange: asked, isNew: false }, ...others];
  }

  /**
   * The calls that a resumed client has brought with it; those of which an earlier load of this document knew are told anew.
   * @param {Exchange} resume
   * @param {any} result of session.resume
   */
  #resumed({ who, page, bodies }, { pending = [], resumed, restarted }) {
    if (!resumed) return [];
    const reloaded = bodies[0].includes('"reloaded": true');
    const why = restarted ? "The server was killed; it had this call on its disk and, started again, goes on with it."
      : reloaded ? "The page was loaded again; its session.resume took this call up, and it goes on."
        : "The connection was lost, the call was not: session.resume brought it through.";
    return pending.map((/** @type {{id: string, method: string, uri?: string}} */ { id, method, uri }) => {
      const place = key(who, "out", id);
      const known = this.#open.get(place);
      /** @type {Exchange} */
      const exchange = known ?? {
        who, direction: "out", kind: "request", title: method, detail: uri ?? "", ending: "", bodies: [], words: [], uri, page,
        hasKey: true, began: performance.now(), from: who === "shell" ? "native" : who, to: answerer(method, { uri }),
      };
      if (exchange.words[exchange.words.length - 1] !== why) exchange.words.push(why);
      if (!known) remember(this.#open, place, exchange);
      return { exchange, isNew: !known };
    });
  }
}

/**
 * Who answers a call as far as its URI tells; what it is redirected to is known when a page opens.
 * @param {string} method
 * @param {any} params
 * @returns {Party}
 */
function answerer(method, params) {
  const uri = String(params?.uri ?? "");
  if (!method.startsWith("router.") || uri === "") return "native";
  return /^(action|service|demo):/.test(uri) ? "swift" : technology(uri);
}

/**
 * @template Value
 * @param {Map<string, Value>} map
 * @param {string} name
 * @param {Value} value
 */
function remember(map, name, value) {
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > remembered) map.delete(oldest);
}

/** @param {Direction} direction */
function other(direction) {
  return direction === "in" ? "out" : "in";
}

/**
 * @param {Who} who
 * @param {Direction} direction
 * @param {unknown} id
 */
function key(who, direction, id) {
  return `${who} ${direction} ${JSON.stringify(id)}`;
}
