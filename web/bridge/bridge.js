// @ts-check
import { codes } from "./codes.js";
import { Connection, endpoint } from "./connection.js";
import { bridgeError, ConnectionClosed, failure } from "./errors.js";
import { Hosting } from "./hosting.js";
import { Peer } from "./peer.js";
import { textOf } from "./serving.js";

export * from "./errors.js";
export { closeCodes, codes } from "./codes.js";

/** @typedef {import("./types.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./types.js").Outcome} Outcome */
/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Params} Params */
/** @typedef {import("./types.js").CallOptions} CallOptions */
/** @typedef {import("./types.js").OpenOptions} OpenOptions */
/** @typedef {import("./types.js").InvokeOptions} InvokeOptions */
/** @typedef {import("./types.js").BackOptions} BackOptions */
/** @typedef {import("./types.js").FinishOptions} FinishOptions */
/** @typedef {import("./types.js").NavigationChange} NavigationChange */
/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {import("./types.js").Unregister} Unregister */

/** How this client names itself when the application does not. */
const CLIENT = { name: "waybridge-js", version: "0.1.0" };

/**
 * A client of one session: it opens pages and invokes tasks wherever they are, and hosts its own. It connects when it is
 * made. Calls made before `ready` wait for it; when the connection ends, every call rejects.
 *
 * Events, each a `CustomEvent`: `close` with `detail` `{code, reason}`, once; `error` with a `BridgeError` as `detail`, for what
 * no caller waits for; `resume` with `{page}`, the id of a page of this client that is on top again.
 */
export class Bridge extends EventTarget {
  #options;
  /** @type {Connection} */ #connection;
  /** @type {Peer} */ #peer;
  #hosting = new Hosting();
  #greeted = false;
  /** @type {(info: SessionInfo) => void} */ #opened = () => {};
  /** @type {(error: unknown) => void} */ #failed = () => {};

  /**
   * The session, once it is open.
   * @type {SessionInfo | undefined}
   */
  session;
  /**
   * Resolves when the session is open; rejects, with what `close` also tells, when that fails.
   * @type {Promise<SessionInfo>}
   */
  ready;

  /** @param {BridgeOptions} [options] */
  constructor(options = {}) {
    super();
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#opened = resolve;
      this.#failed = reject;
    });
    // Who does not wait for it learns of the failure from `close`, and from every call.
    this.ready.catch(() => {});
    this.#peer = new Peer({
      send: (text) => this.#connection.send(text),
      report: (error) => this.#report(error),
      requests: this.#hosting.requests,
      notifications: new Map([["page.resume", (params) => this.#resume(params.page)]]),
    });
    for (const [scheme, host] of Object.entries(options.hosts ?? {})) this.#hosting.addPages(scheme, host);
    for (const [uri, handler] of Object.entries(options.tasks ?? {})) this.#hosting.addTask(uri, handler);
    this.#connection = new Connection(endpoint(options.url), options.WebSocket ?? globalThis.WebSocket, {
      opened: () => void this.#greet(),
      received: (data) => this.#peer.receive(data),
      closed: (close) => this.#closed(close),
    });
  }

  /**
   * Opens a page, and waits for it to go away; that it was dismissed is an outcome, not an error. Rejects with a
   * `BridgeError` when the page did not open. Aborting `signal` before it is shown rejects; afterwards it closes the page.
   * @param {string} uri
   * @param {Params} [params]
   * @param {OpenOptions} options
   * @returns {Promise<Outcome>}
   */
  open(uri, params, { exts, style, from, ...call } = {}) {
    return this.#peer.request("router.open", { uri, params, exts, style, from, deadlineMs: call.timeout }, call);
  }

  /**
   * Runs a task or a service, and waits for its value.
   * @param {string} uri
   * @param {Params} [params]
   * @param {InvokeOptions} options
   * @returns {Promise<any>}
   */
  invoke(uri, params, { exts, ...call } = {}) {
    return this.#peer.request("router.invoke", { uri, params, exts, deadlineMs: call.timeout }, call);
  }

  /**
   * Goes back one page, `count` pages, or as the options say. `result` (with `code` and `message`) is what the opener of the
   * lowest page that closes gets.
   * @param {number | BackOptions} [target]
   * @returns {Promise<NavigationChange>}
   */
  back(target = {}) {
    /** @type {BackOptions} */
    const options = typeof target === "number" ? { count: target } : target;
    const { result, code, message, ...rest } = options;
    return this.#peer.request("navigation.back", { ...rest, result: wireResult(result, code, message) });
  }

  /**
   * Closes the page in which this client runs, or another, and gives its opener the result.
   * @param {unknown} [result]
   * @param {FinishOptions} options
   * @returns {Promise<NavigationChange>}
   */
  finish(result, { page, code, message } = {}) {
    return this.#peer.request("navigation.finish", { page, result: wireResult(result, code, message) });
  }

  /**
   * Whether something would open it or run it; nothing of that happens.
   * @param {string} uri
   * @returns {Promise<{canOpen: boolean, kind?: string, route?: string}>}
   */
  canOpen(uri) {
    return this.#peer.request("router.canOpen", { uri });
  }

  /**
   * The pages of the session, bottom first.
   * @returns {Promise<import("./types.js").Stack>}
   */
  stack() {
    return this.#peer.request("navigation.stack");
  }

  /**
   * The page on the stack with that id or URI, nearest to the top.
   * @param {string} uri
   * @returns {Promise<Page | null>}
   */
  contains(uri) {
    return this.#peer.request("navigation.contains", { uri });
  }

  /**
   * The declared routes.
   * @returns {Promise<Record<string, any>[]>}
   */
  routes() {
    return this.#peer.request("router.routes");
  }

  /**
   * Calls any method of the protocol.
   * @param {string} method
   * @param {Params | unknown[]} [params]
   * @param {CallOptions} options here `timeout` is this side's alone
   * @returns {Promise<any>}
   */
  request(method, params, { signal, timeout, onProgress } = {}) {
    return this.#peer.request(method, params, { signal, timeout, onProgress });
  }

  /**
   * Shows the pages of a scheme, or those that fit `host.patterns`.
   * @param {string} scheme such as `native`
   * @param {PageHost} host
   * @returns {Unregister}
   */
  host(scheme, host) {
    return this.#register(this.#hosting.addPages(scheme, host));
  }

  /**
   * Runs the tasks of a URI or pattern, such as `action://share`. What the handler throws reaches the caller: with its `code`
   * when that is the application's (1…1999, from 3000), else as 2502.
   * @param {string} uri
   * @param {TaskHandler} handler
   * @returns {Unregister}
   */
  task(uri, handler) {
    return this.#register(this.#hosting.addTask(uri, handler));
  }

  /** Ends the connection, and every call with it. Resolves when the socket is gone. */
  close() {
    this.#connection.close();
    return this.#connection.ended;
  }

  async #greet() {
    this.#greeted = true;
    const { client = CLIENT, token, join, page } = this.#options;
    const hosts = this.#hosting.declarations;
    const hello = { protocol: ["1.0"], client, token, hosts: hosts.length > 0 ? hosts : undefined, join, page };
    try {
      const info = await this.#peer.request("session.open", hello, { first: true });
      if (typeof info?.session !== "string") {
        throw bridgeError(codes.internal.code, "the server's answer to session.open names no session", { kind: "malformed" });
      }
      this.session = info;
      this.#peer.start(info.limits?.maxMessage);
      this.#opened(info);
    } catch (error) {
      this.#failed(error);
      this.#connection.close("the session did not open", error);
    }
  }

  /**
   * @param {{declaration: import("./registry.js").Declaration, remove: () => void}} entry
   * @returns {Unregister}
   */
  #register({ declaration, remove }) {
    const hosts = [declaration];
    const answer = this.#greeted ? this.#peer.request("host.register", { hosts }) : this.ready;
    const registered = answer.then(() => {}, (/** @type {any} */ error) => {
      remove();
      if (!(error instanceof ConnectionClosed)) this.#report(error);
      throw error;
    });
    // Who does not wait for it learns of the failure from the event.
    registered.catch(() => {});
    const unregister = async () => {
      await registered;
      await this.#peer.request("host.unregister", { hosts });
      remove();
    };
    return Object.assign(unregister, { registered });
  }

  /** @param {string} page */
  #resume(page) {
    this.dispatchEvent(new CustomEvent("resume", { detail: { page } }));
    this.#hosting.resume(page).catch((cause) => {
      this.#report(failure("internal", `resume of a host failed: ${textOf(cause)}`, { cause }));
    });
  }

  /** @param {{code: number, reason: string, cause?: unknown}} close */
  #closed({ code, reason, cause }) {
    const isOwn = cause instanceof Error && "kind" in cause;
    this.#failed(isOwn ? cause : new ConnectionClosed({ code, reason }, { sent: false, cause }));
    this.#peer.close({ code, reason, cause });
    this.dispatchEvent(new CustomEvent("close", { detail: { code, reason } }));
  }

  /** @param {import("./errors.js").BridgeError} error */
  #report(error) {
    this.dispatchEvent(new CustomEvent("error", { detail: error }));
  }
}

/**
 * @param {unknown} data
 * @param {number} [code]
 * @param {string} [message]
 */
function wireResult(data, code, message) {
  return data === undefined && code === undefined && message === undefined ? undefined : { data, code, message };
}
