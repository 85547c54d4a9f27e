// @ts-check
import { codeOf } from "../codes.js";
import { delegation } from "../calls/delegation.js";
import { IncomingRequests, requestID } from "../calls/incoming-requests.js";
import { register, sendFirst, sendRegistration } from "../session/registrations.js";
import { schemeOf } from "../uri/uri.js";
import { bridgeError, failure, methodNotFound, runHandler } from "../values/errors.js";
import { hasHalfPair } from "../values/json-values.js";
import { checkHost, HostRegistry } from "./host-registry.js";
import { HostedPages } from "./hosted-pages.js";
import { KeyedResults } from "./keyed-results.js";

/** @typedef {import("../types/api.js").PageHost} PageHost */
/** @typedef {import("../types/api.js").TaskHandler} TaskHandler */
/** @typedef {import("../types/api.js").MethodCall} MethodCall */
/** @typedef {import("../types/api.js").MethodHandler} MethodHandler */
/** @typedef {import("../types/api.js").Unregister} Unregister */
/** @typedef {import("./host-registry.js").Declaration} Declaration */

/** Names that the protocol reserves. */
const RESERVED = /^(?:\$\/|rpc\.|(?:session|router|navigation|page|task|host|events|table)\.|event$)/;

/**
 * The hosts and methods of a client. Registers the hosts with the server, and passes requests and notifications to the handlers of pages, tasks
 * and methods.
 */
export class ClientHosts {
  /** @type {HostRegistry<PageHost>} */ #hosts = new HostRegistry();
  /** @type {HostRegistry<TaskHandler>} */ #tasks = new HostRegistry();
  /**
   * The interceptors by name.
   * @type {Map<string, {declaration: Declaration, handler: import("../types/api.js").InterceptorHandler}>}
   */
  #interceptors = new Map();
  /**
   * The methods that the app adds, under names that it chooses.
   * @type {Map<string, MethodHandler>}
   */
  #methods = new Map();
  /**
   * The leave guards of this client, by the page.
   * @type {Map<string, import("../types/api.js").LeaveGuard | null | undefined>}
   */
  #guards = new Map();
  /**
   * The handlers of the server's requests, by method.
   * @type {Record<string, MethodHandler | undefined>}
   */
  #requests = {
    "page.open": (params, call) => this.pages.open(params, call),
    "page.close": (params) => {
      this.#guards.delete(params.page);
      return this.pages.close(params);
    },
    "page.call": (params, call) => this.#call(params, call),
    "page.leave": (params, call) => this.#leave(params, call),
    "router.intercept": (params, call) => this.#intercept(params, call),
    "task.run": (params, call) => this.#run(params, call),
  };
  /**
   * The page in which the client runs. Its methods are those of the client.
   * @type {string | undefined}
   */
  page;
  /** Whether the current session received the declarations when it was opened. */
  isDeclared = false;
  pages;
  #results;
  #client;

  /** @param {import("../session/client.js").Client} client */
  constructor(client) {
    this.#results = new KeyedResults(client.clock, client.store?.results);
    this.#client = client;
    this.pages = new HostedPages(this.#hosts, client);
    client.peer.incoming = new IncomingRequests(client.peer, (method) => this.#requestHandler(method));
  }

  /** The URL of the server, once the client is connected. */
  get url() {
    return String(this.#client.access.url);
  }

  /** The declarations of all hosts, as they are registered with the server. */
  get declarations() {
    const interceptors = [...this.#interceptors.values()].map(({ declaration }) => declaration);
    return [...this.#hosts.declarations, ...this.#tasks.declarations, ...interceptors];
  }

  /**
   * @param {string} scheme
   * @param {PageHost} host
   */
  addPages(scheme, host) {
    if (typeof scheme !== "string" || schemeOf(`${scheme}:`) !== scheme.toLowerCase()) {
      throw failure("invalidParams", globalThis.__waybridgeBrief ? "A host needs a scheme" : `A host needs a scheme such as "native", without a colon, but got ${JSON.stringify(scheme)}`);
    }
    if (typeof host?.open !== "function" || typeof host.close !== "function") {
      throw failure("invalidParams", globalThis.__waybridgeBrief ? `The host of "${scheme}" needs a function` : `The host of "${scheme}" needs the functions open and close`);
    }
    /** @type {Declaration} */
    const declaration = { scheme: scheme.toLowerCase(), kind: "page" };
    if (host.patterns !== undefined) declaration.patterns = host.patterns.map(checkPattern);
    const remove = this.#hosts.add(declaration, host);
    this.pages.hostAdded();
    return this.#register(declaration, remove);
  }

  /**
   * @param {string} pattern a URI, or a pattern of URIs
   * @param {TaskHandler} handler
   */
  addTask(pattern, handler) {
    if (typeof handler !== "function") throw failure("invalidParams", `The task "${pattern}" needs a function`);
    /** @type {Declaration} */
    const declaration = { patterns: [checkPattern(pattern)], kind: "task" };
    return this.#register(declaration, this.#tasks.add(declaration, handler));
  }

  /**
   * @param {string} name
   * @param {import("../types/api.js").InterceptorScope} scope
   * @param {import("../types/api.js").InterceptorHandler} handler
   */
  addInterceptor(name, { timeout, ...scope }, handler) {
    if (typeof handler !== "function") throw failure("invalidParams", `The interceptor "${name}" needs a function`);
    if (this.#interceptors.has(name)) throw failure("conflict", `The interceptor "${name}" is there already`);
    /** @type {Declaration} */
    const declaration = { ...scope, kind: "interceptor", name };
    if (timeout !== undefined) declaration.timeoutMs = timeout;
    scope.patterns?.forEach(checkPattern);
    const entry = { declaration, handler };
    this.#interceptors.set(name, entry);
    return this.#register(declaration, () => {
      if (this.#interceptors.get(name) === entry) this.#interceptors.delete(name);
    });
  }

  /**
   * @param {string} name
   * @param {MethodHandler} handler
   * @returns {() => void} removes the method
   */
  addMethod(name, handler) {
    if (typeof name !== "string" || name === "" || RESERVED.test(name)) {
      throw failure("invalidParams", globalThis.__waybridgeBrief ? `The method "${name}" is reserved` : `A method cannot have the name ${JSON.stringify(name)}: it is empty, or reserved by the protocol`);
    }
    if (typeof handler !== "function") throw failure("invalidParams", `The method "${name}" needs a function`);
    if (this.#methods.has(name)) throw failure("conflict", globalThis.__waybridgeBrief ? `The method "${name}" is there already` : `This client already has a method "${name}"; remove the first one before`);
    this.#methods.set(name, handler);
    return () => {
      if (this.#methods.get(name) === handler) this.#methods.delete(name);
    };
  }

  /**
   * @param {import("../types/api.js").LeaveGuard | null} guard
   * @param {string} [id] the page; default: the page in which the client runs
   * @param {number} [timeoutMs]
   */
  async setGuard(guard, id, timeoutMs) {
    if (guard !== null && typeof guard !== "function") throw failure("invalidParams", "A leave guard must be a function, or null");
    await this.#client.ready;
    const page = id ?? this.page ?? "";
    const earlier = this.#guards.get(page);
    // The server may ask as soon as it has responded.
    this.#guards.set(page, guard ?? earlier);
    try {
      await this.#client.peer.request("page.setGuard", { page: id, enabled: guard !== null, timeoutMs });
      this.#guards.set(page, guard);
    } catch (error) {
      this.#guards.set(page, earlier);
      throw error;
    }
  }

  /** Returns the declarations for `session.open`. Hosts that are added later are registered one by one. */
  declareHosts() {
    this.isDeclared = true;
    const { declarations } = this;
    return declarations.length > 0 ? declarations : undefined;
  }

  /**
   * Replaces the hosts of an earlier load of the page in a resumed session, and compares the pages if they can differ.
   * @param {Declaration[]} earlier the declarations of the earlier load
   */
  replaceEarlier(earlier) {
    const { declarations } = this;
    const own = new Set(declarations.map((each) => JSON.stringify(each)));
    sendFirst(this.#client, "host.unregister", { hosts: earlier.filter((each) => !own.has(JSON.stringify(each))) });
    sendFirst(this.#client, "host.register", { hosts: declarations });
    if ([...earlier, ...declarations].some(({ kind }) => kind === "page")) void this.pages.sync();
  }

  /** Compares the pages after a restart of the server, if this client has any or can have them. */
  comparePages() {
    if (!this.pages.isEmpty || this.#hosts.declarations.length > 0) void this.pages.sync();
  }

  /**
   * Called when the session was lost: aborts its requests and closes the pages that this client showed.
   * @param {string} reason
   * @returns {string[]} the ids of the pages
   */
  clear(reason) {
    this.#client.peer.incoming?.interrupt(failure("outcomeUnknown", globalThis.__waybridgeBrief ? "The session was lost" : `The session was lost (${reason})`));
    this.#guards.clear();
    return this.pages.closeAll();
  }

  /**
   * Returns the handler of a request.
   * @param {string} method
   * @returns {import("../calls/incoming-requests.js").RequestHandler | undefined}
   */
  #requestHandler(method) {
    const handler = Object.hasOwn(this.#requests, method) ? this.#requests[method] : this.#method(method);
    return handler && ((params, { request, ...context }) => handler(params, { ...context, ...this.#context(request) }));
  }

  /**
   * Runs the handler of a notification, if there is one.
   * @param {string} method
   * @param {any} params
   */
  notify(method, params) {
    if (method === "page.resume") {
      this.#client.emit("resume", params);
      return void this.pages.resume(params);
    }
    // A notification has no response, and its handler is not aborted.
    const context = { signal: new AbortController().signal, progress: () => {} };
    return this.#method(method)?.(params, { ...context, ...this.#context({ id: (called) => requestID(null, false, called) }) });
  }

  /** @param {import("../calls/incoming-requests.js").RequestReference} request */
  #context(request) {
    return { ...this.#results.context([]), ...delegation(this.#client.bridge, request) };
  }

  /**
   * Returns a method of the app as a handler of requests and notifications.
   * @param {string} name
   * @returns {MethodHandler | undefined}
   */
  #method(name) {
    const handler = this.#methods.get(name);
    return handler && ((params, call) => runHandler(call.signal, () => handler(params, call)));
  }

  /**
   * @param {any} params of `task.run`
   * @param {MethodCall} call
   */
  async #run({ uri, params, exts, host, ...request }, call) {
    if (typeof uri !== "string") throw failure("invalidParams", globalThis.__waybridgeBrief ? "Invalid params" : "task.run needs a uri");
    const handler = this.#tasks.find(checkHost(host));
    if (handler === undefined) throw failure("hostAbsent", globalThis.__waybridgeBrief ? "No such host" : `This client does not run "${uri}"`);
    const keyed = this.#results.context(["task.run", host], request);
    return runHandler(call.signal, () => handler(params ?? {}, { uri, exts: exts ?? {}, ...call, ...keyed }));
  }

  /**
   * @param {any} params of `page.call`
   * @param {MethodCall} call
   */
  async #call({ page: id, method, params, ...request }, call) {
    if (typeof id !== "string" || typeof method !== "string") throw failure("invalidParams", globalThis.__waybridgeBrief ? "Invalid params" : "page.call needs a page and a method");
    const shown = this.pages.get(id);
    if (shown === undefined && id !== this.page) {
      throw bridgeError(codeOf.noRoute, globalThis.__waybridgeBrief ? "No such page" : `This client does not show the page "${id}"`, { data: { kind: "notOnStack", retryable: false } });
    }
    const own = shown?.host.methods;
    const handler = own !== undefined && Object.hasOwn(own, method) ? own[method] : id === this.page && this.#methods.get(method);
    if (typeof handler !== "function") throw methodNotFound(method);
    const keyed = this.#results.context(["page.call", id, method], request);
    return runHandler(call.signal, () => handler(params ?? {}, { ...call, ...keyed, page: shown?.page ?? { id } }));
  }

  /**
   * @param {any} params of `router.intercept`
   * @param {MethodCall} call
   */
  async #intercept({ name, ...params }, { signal }) {
    // Without a handler, it was removed while the request was on its way.
    /** @type {any} */
    const decision = await runHandler(signal, () => this.#interceptors.get(name)?.handler({ ...params, signal }));
    const { redirect, refuse, params: changed } = decision ?? {};
    if (refuse !== undefined) return { decision: "refuse", reason: String(refuse) };
    if (redirect !== undefined) return { decision: "redirect", uri: redirect, params: changed };
    return changed === undefined ? { decision: "next" } : { decision: "change", params: changed };
  }

  /**
   * @param {any} params of `page.leave`
   * @param {MethodCall} call
   */
  async #leave({ page, reason, to, caller }, { signal }) {
    // Without a guard, it was removed while the question was on its way.
    const verdict = await runHandler(signal, () => this.#guards.get(page)?.({ page, reason, to, caller, signal }));
    return typeof verdict === "string" ? { allow: false, reason: verdict } : { allow: verdict !== false };
  }

  /**
   * @param {Declaration} declaration
   * @param {() => void} remove removes the host in this client
   * @returns {Unregister}
   */
  #register(declaration, remove) {
    const client = this.#client;
    const params = { hosts: [declaration] };
    const sent = this.isDeclared ? sendRegistration(client, "host.register", params) : undefined;
    return register(client, sent, remove, () => sendRegistration(client, "host.unregister", params, remove));
  }
}

/** @param {unknown} pattern only its start and its characters are checked here; the server checks the rest */
function checkPattern(pattern) {
  if (typeof pattern === "string" && (pattern.startsWith("/") || schemeOf(pattern) !== undefined) && !hasHalfPair(pattern)) return pattern;
  throw failure("invalidParams", `${JSON.stringify(pattern)} is not a pattern${globalThis.__waybridgeBrief ? "" : '; write "scheme://part/:name" or "/part/:name"'}`);
}
