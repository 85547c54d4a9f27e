// @ts-check
import { Registrations } from "../session/registrations.js";
import { failure, textOf } from "../values/errors.js";
import { HostHandlers } from "./host-handlers.js";
import { ClientMethods } from "./client-methods.js";
import { KeyedResults } from "./keyed-results.js";
import { requestID } from "../calls/incoming-requests.js";

/** @typedef {import("../types/api.js").MethodHandler} MethodHandler */
/** @typedef {import("./host-registry.js").Declaration} Declaration */

/** The hosts of a client. Registers them with the server, and passes requests and notifications to their handlers. */
export class ClientHosts {
  methods = new ClientMethods();
  /** @type {KeyedResults} */ #results;
  /** @type {HostHandlers} */ handlers;
  /** Whether the current session received the declarations when it was opened. */
  #isDeclared = false;
  #registrations;
  #client;

  /**
   * @param {(request?: import("../calls/incoming-requests.js").RequestReference) => import("../types/api.js").Delegation} delegate creates the functions
   *   that call for the caller of a request, or for this client itself
   * @param {import("../session/client.js").Client} client
   */
  constructor(delegate, client) {
    this.#results = new KeyedResults(client.clock, () => client.store?.results);
    this.handlers = new HostHandlers(this.methods, this.#results);
    this.#registrations = new Registrations(client);
    this.delegate = delegate;
    this.#client = client;
  }

  /** The URL of the server, once the client is connected. */
  get url() {
    return String(this.#client.access.url);
  }

  /**
   * Returns the handler of a request.
   * @param {string} method
   * @returns {import("../calls/incoming-requests.js").RequestHandler | undefined}
   */
  requestHandler(method) {
    const handler = this.handlers.requests.get(method) ?? this.methods.handler(method);
    return handler && ((params, { request, ...context }) => handler(params, { ...context, ...this.#context(request) }));
  }

  /**
   * Runs the handler of a notification, if there is one.
   * @param {string} method
   * @param {any} params
   */
  notify(method, params) {
    if (method === "$/cancelRequest") return this.#client.peer.incoming?.cancel(params.id);
    if (method === "page.resume") return this.#resume(params);
    const handler = this.methods.handler(method);
    // A notification has no response, and its handler is not aborted.
    const context = { signal: new AbortController().signal, progress: () => {} };
    return handler?.(params, { ...context, ...this.#context({ id: (called) => requestID(null, false, called) }) });
  }

  /** @param {import("../calls/incoming-requests.js").RequestReference} request */
  #context(request) {
    return { ...this.#results.context([]), ...this.delegate(request) };
  }

  /** Returns the declarations for `session.open`. Hosts that are added later are registered one by one. */
  declareHosts() {
    this.#isDeclared = true;
    const { declarations } = this.handlers;
    return declarations.length > 0 ? declarations : undefined;
  }

  /**
   * Called when a session was opened or resumed.
   * @param {string | undefined} page the page in which the client runs
   */
  opened(page) {
    this.handlers.page = page;
  }

  /** Called when the session has ended. */
  ended() {
    this.#isDeclared = false;
  }

  /**
   * Called when the session was lost: aborts its requests and closes the pages that this client showed.
   * @param {string} reason
   * @returns {string[]} the ids of the pages
   */
  clear(reason) {
    this.#client.peer.incoming?.interrupt(failure("outcomeUnknown", globalThis.__waybridgeBrief ? "The session was lost" : `The session was lost (${reason})`));
    return this.handlers.pages.closeAll((cause) => this.reportFailure("close", cause));
  }

  /**
   * @param {{declaration: Declaration, remove: () => void}} entry
   * @returns {import("../types/api.js").Unregister}
   */
  register({ declaration, remove }) {
    const registrations = this.#registrations;
    const params = { hosts: [declaration] };
    const sent = this.#isDeclared ? registrations.send("host.register", params) : undefined;
    return registrations.registration(sent, remove, () => registrations.send("host.unregister", params, remove));
  }

  /** @param {any} params of `page.resume` */
  #resume(params) {
    this.#client.emit("resume", params);
    this.handlers.pages.resume(params).catch((cause) => this.reportFailure("resume", cause));
  }

  /**
   * @param {string} what
   * @param {unknown} cause
   */
  reportFailure(what, cause) {
    this.#client.report(failure("internal", `${globalThis.__waybridgeBrief ? what : `The function ${what} of a host`} failed: ${textOf(cause)}`, { cause }));
  }
}
