// @ts-check
import { technology } from "../shell/stack.js";
import { read } from "./message.js";

/** @typedef {import("./message.js").Message} Message */
/** @typedef {import("../shared/observed-socket.js").Site} Site */
/** @typedef {"shell" | "web" | "flutter"} Who */
/** @typedef {"in" | "out"} Direction "out" goes to the server */
/** @typedef {import("../shell/stack.js").Technology | "swift"} Party the caller or the handler of a call */

/**
 * An exchange on a socket: a request with its response, a notification, or a text that is no message.
 * @typedef {object} Exchange
 * @property {Who} who the client that has the socket
 * @property {Direction} direction
 * @property {"request" | "notification" | "result" | "error" | "unknown"} kind a request until it has its response
 * @property {string} title the method
 * @property {string} detail its subject: a URI, a page
 * @property {string} ending its outcome
 * @property {string[]} bodies indented JSON, in the order on the socket
 * @property {string[]} words notes on what it survived
 * @property {string} [uri] the called URI
 * @property {boolean} hasKey whether it has an idempotency key; such a call survives the server, as does a call whose page is shown
 * @property {string} [page] the page that its client runs in
 * @property {string} [opened] the page that it has opened
 * @property {Site} [site] the line that has made the call
 * @property {string} [task] the pattern of the host that runs the task
 * @property {Party} from
 * @property {Party} to
 * @property {number} began milliseconds of the document's clock
 * @property {number} [milliseconds] from the request to its response
 */

/** The methods that an app calls. Clients send the others themselves. */
const calls = ["router.open", "router.invoke", "page.call"];
/** The most exchanges without a response, and pages, that are kept. */
const remembered = 200;

/** Reads the messages of the sockets: assigns responses, progress and resumed calls to their requests. */
export class Exchanges {
  /** @type {Map<string, Exchange>} requests without a response, by client, direction and id */
  #open = new Map();
  /** @type {Map<string, {uri: string, party: Party}>} by page id */
  #pages = new Map();

  /** @returns {Exchange[]} calls of the app without a response, the oldest first */
  get running() {
    return [...this.#open.values()].filter(({ title, direction, uri = "" }) =>
      direction === "out" && calls.includes(title) && !uri.startsWith("demo:"));
  }

  /** @returns {Map<string, Exchange>} running calls by the page that they opened */
  get awaited() {
    return new Map(this.running.flatMap((call) => (call.opened ? [[call.opened, call]] : [])));
  }

  /**
   * Returns the URI of a page that a host received.
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
   * @returns {{exchange: Exchange, isNew: boolean}[]} the new and the changed exchanges
   */
  receive(who, direction, text, more = {}) {
    return read(text).flatMap((message) => {
      if (message.kind === "request" || message.kind === "notification" || message.kind === "unknown") {
        return this.#receiveRequest(who, direction, message, more);
      }
      return this.#receiveResponse(who, direction, message);
    });
  }

  /**
   * @param {Who} who
   * @param {Direction} direction
   * @param {Message} message
   * @param {{site?: Site, page?: string}} more
   */
  #receiveRequest(who, direction, message, { site, page }) {
    const { kind, method: title, params, id, about: detail, body } = message;
    // The records of the inspector are no messages of the app.
    if (title === "admin.records") return [];
    if (title === "$/progress") {
      const call = this.#open.get(key(who, other(direction), params?.id));
      if (call) return [this.#receiveProgress(call, message)];
    }
    /** @type {Exchange} */
    const exchange = {
      who, direction, kind, title, detail, ending: "", bodies: [body], words: [], uri: params?.uri, page, hasKey: params?.key !== undefined, began: performance.now(),
      from: who === "shell" ? "native" : who, to: calleeOf(title, params), ...(kind === "request" && { site }),
    };
    if (direction === "in") this.#receiveHostRequest(exchange, params);
    // After a lost connection a client sends the same requests again.
    const place = key(who, direction, id);
    const before = kind === "request" ? this.#open.get(place) : undefined;
    if (before) return [{ exchange: before, isNew: false }];
    if (kind === "request") remember(this.#open, place, exchange);
    return [{ exchange, isNew: true }];
  }

  /**
   * A host received a request to show a page or to run a task: the call that it belongs to goes to that host.
   * @param {Exchange} exchange
   * @param {any} params
   */
  #receiveHostRequest(exchange, params) {
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
  #receiveProgress(call, { params, body }) {
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
  #receiveResponse(who, direction, message) {
    const place = key(who, other(direction), message.id);
    const request = this.#open.get(place);
    const kind = message.kind === "error" ? "error" : "result";
    if (!request) {
      /** @type {Exchange} */
      const alone = {
        who, direction, kind, title: "answer", detail: message.about, ending: "", bodies: [message.body], words: [], hasKey: false,
        began: performance.now(), from: "native", to: "native",
      };
      return [{ exchange: alone, isNew: true }];
    }
    this.#open.delete(place);
    request.bodies.push(message.body);
    Object.assign(request, { kind, ending: message.ending, milliseconds: performance.now() - request.began });
    if (!request.detail) request.detail = message.about;
    if (message.error?.code === 2599 && !request.hasKey) {
      request.words.push("This call had no idempotency key, so it is unknown whether it ran before the server was killed. With a key the server would have continued it.");
    }
    const others = request.title === "session.resume" && message.result ? this.#resumeCalls(request, message.result) : [];
    return [{ exchange: request, isNew: false }, ...others];
  }

  /**
   * Marks the calls that a resumed client still has. Calls that an earlier load of this document made become new exchanges.
   * @param {Exchange} resume
   * @param {any} result of session.resume
   */
  #resumeCalls({ who, page, bodies }, { pending = [], resumed, restarted }) {
    if (!resumed) return [];
    const reloaded = bodies[0].includes('"reloaded": true');
    const why = restarted ? "The server was killed. It had persisted this call, and continued it after the restart."
      : reloaded ? "The page was reloaded. Its session.resume restored this call, which continues."
        : "The connection was lost. session.resume restored this call, which continues.";
    return pending.map((/** @type {{id: string, method: string, uri?: string}} */ { id, method, uri }) => {
      const place = key(who, "out", id);
      const known = this.#open.get(place);
      /** @type {Exchange} */
      const exchange = known ?? {
        who, direction: "out", kind: "request", title: method, detail: uri ?? "", ending: "", bodies: [], words: [], uri, page,
        hasKey: true, began: performance.now(), from: who === "shell" ? "native" : who, to: calleeOf(method, { uri }),
      };
      if (exchange.words[exchange.words.length - 1] !== why) exchange.words.push(why);
      if (!known) remember(this.#open, place, exchange);
      return { exchange, isNew: !known };
    });
  }
}

/**
 * Returns the handler of a call by its URI. The target of a redirect is known when its page opens.
 * @param {string} method
 * @param {any} params
 * @returns {Party}
 */
function calleeOf(method, params) {
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
