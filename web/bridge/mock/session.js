// @ts-check
import { codeOf } from "../codes.js";
import { BridgeError, bridgeError, cancelled, DeclinedError, failure, runHandler } from "../values/errors.js";
import { platformClock } from "../connection/clock.js";
import { finished } from "../fallback.js";
import { KeyedResults } from "../hosting/keyed-results.js";
import { queryOf } from "../uri/uri.js";
import { URIMap } from "../uri/uri-map.js";
import { MockGates } from "./gates.js";
import { MockInterceptors } from "./interceptors.js";
import { MockInvitation } from "./invitation.js";
import { merged, MockResolution, noRoute } from "./resolution.js";
import { MockClient } from "./client.js";
import { MockStack } from "./stack.js";

/** @typedef {import("../types/api.js").Page} Page */
/** @typedef {import("../types/api.js").Outcome} Outcome */
/** @typedef {import("../calls/incoming-requests.js").RunContext} RunContext */
/** @typedef {import("./app.js").MockPageHandler} MockPageHandler */
/** @typedef {import("./resolution.js").ResolvedCall} ResolvedCall */

/** The token with which a bridge joins that was not invited. */
export const JOIN_TOKEN = "mock";

/** One session of a mocked app: its clients, hosts and pages. */
export class MockSession {
  /** @type {Set<MockClient>} the first client first */ clients = new Set();
  /** @type {{page: URIMap<MockClient>, task: URIMap<MockClient>, service: URIMap<MockClient>}} */
  #hosted = { page: new URIMap(), task: new URIMap(), service: new URIMap() };
  /** @type {Map<string, MockInvitation>} by token */ #invitations = new Map();
  /** @type {Map<string, AbortController>} the app's own pages by id */ #shown = new Map();
  /** @type {Map<string, MockClient>} the hosts of the other pages, by id */ #hosts = new Map();
  /** @type {Map<string, MockClient | undefined>} the opener of each page, by id */ #openers = new Map();
  /** @type {Map<string, MockClient>} the clients that guard a page, by its id */ #guards = new Map();
  #results = new KeyedResults(platformClock);
  /** @type {Set<string>} */ #deliveredKeys = new Set();
  #lastPage = 0;
  #routes;
  #interceptors;
  #resolution;
  stack = new MockStack({
    closed: (page, reason, exts) => this.#closed(page, reason, exts),
    resumed: (page, changes) => this.#resumed(page, changes),
    seen: (page) => {
      for (const client of this.clients) client.reportVisibility(page);
    },
  });

  /**
   * @param {string} id
   * @param {import("./types.js").Handlers} routes
   */
  constructor(id, routes) {
    this.id = id;
    this.#routes = routes;
    this.#interceptors = new MockInterceptors(routes.interceptors);
    this.gates = new MockGates(routes.gates, {
      open: (call, signal) => this.open(call, { signal, progress: () => {} }, [], true),
      changed: (gate, open) => this.publish("session.gate", { session: this.id, gate, open }),
    });
    this.#resolution = new MockResolution({
      interceptors: this.#interceptors, gates: this.gates,
      find: (uri) => this.#findTask(uri) ?? this.#routes.pages.find(uri) ?? this.#hosted.page.find(uri),
      caller: (callers) => this.#caller(callers),
    });
  }

  /**
   * @param {import("../calls/peer.js").Peer} peer
   * @param {any} params of `session.open`
   */
  addClient(peer, { join, page, hosts = [] }) {
    const invitation = this.#invitations.get(join?.token);
    invitation?.accept({ page, hosts });
    const client = new MockClient(this, peer, { page, invitation });
    this.clients.add(client);
    client.register(hosts);
    return client;
  }

  /**
   * @param {MockClient} client
   * @param {boolean} isLost
   */
  removeClient(client, isLost) {
    this.clients.delete(client);
    client.leave(isLost);
    for (const [page, host] of [...this.#hosts]) {
      const { code, message } = failure("hostAbsent", "The host of the page is gone");
      if (host === client && this.stack.contains(page) !== null) this.stack.finish(page, "failed", { code, message });
    }
  }

  /** The first client has left. */
  end() {
    for (const controller of this.#shown.values()) controller.abort(cancelled());
  }

  /** @param {any} params of `session.invite` */
  invite(params) {
    const token = `mock-guest-${this.#invitations.size + 1}`;
    const invitation = new MockInvitation(params);
    this.#invitations.set(token, invitation);
    return { session: this.id, token, expiresAt: invitation.expiresAt };
  }

  /** @param {string} token */
  isValidToken(token) {
    return token === JOIN_TOKEN || this.#invitations.has(token);
  }

  /**
   * @param {any} declaration
   * @param {MockClient} client
   */
  host(declaration, client) {
    if (declaration.kind === "interceptor") return this.#interceptors.add(declaration, client.peer);
    return this.#hosted[/** @type {"page" | "task" | "service"} */ (declaration.kind)].add(declaration, client);
  }

  /**
   * Whether a client shows a page, or has opened it.
   * @param {string} page
   * @param {MockClient} client
   */
  belongsTo(page, client) {
    return this.#hosts.get(page) === client || this.#openers.get(page) === client;
  }

  /**
   * @param {any} params
   * @param {RunContext} context
   * @param {MockClient[]} callers the clients that must have the right to the call, the first caller last; empty: the app itself
   * @param {boolean} [passesGates] whether the call opens the page of a gate
   * @returns {Promise<Outcome>}
   */
  async open(params, context, callers = [], passesGates = false) {
    const call = await this.#resolution.resolve(params, context, callers, passesGates);
    const { uri, exts, style = "push" } = call;
    if (this.#findTask(uri)) return finished(await this.#perform(call, context, callers));
    const [own, hosted] = [this.#routes.pages.find(uri), this.#hosted.page.all(uri)];
    if (own === undefined && hosted.length === 0) throw noRoute(uri);
    await this.askGuards(this.stack.closedByOpening(style, uri), style === "popTo" ? "dismissed" : "replaced", exts);
    if (style === "popTo") {
      const hasParams = queryOf(uri).length > 0 || Object.keys(call.params ?? {}).length > 0;
      const all = merged(own ?? hosted[0], call);
      const changes = { ...(hasParams && { uri, params: all }), ...(Object.keys(exts).length > 0 && { exts }) };
      const existing = this.stack.popTo(uri, changes, exts);
      if (existing !== undefined) return existing.outcome;
    }
    const { page: opened, handler } = await this.#show({ ...call, style }, context, callers);
    const outcome = this.stack.add(opened);
    context.progress({ opened: { page: opened.id } });
    context.signal.addEventListener("abort", () => this.#end(opened, "cancelled"));
    if (handler !== undefined) void this.#run(opened, handler);
    return outcome;
  }

  /**
   * Removes pages and opens others in their place. A failure leaves the stack as it is.
   * @param {{remove?: import("../types/api.js").PageRange, open?: import("../types/api.js").AddedPage[], exts?: import("../types/api.js").Params}} params
   * @param {RunContext} context
   * @param {MockClient[]} callers as for `open`
   */
  async edit({ remove, open = [], exts }, context, callers) {
    const closing = this.stack.removedBy(remove);
    if (open.length === 0 && closing.length === this.stack.pages.length) {
      throw bridgeError(codeOf.conflict, "No page would stay on the stack", { data: { kind: "nothingStays", retryable: false } });
    }
    await this.askGuards(closing, open.length > 0 ? "replaced" : "dismissed", exts);
    /** @type {{page: Page, handler?: MockPageHandler}[]} */
    const shown = [];
    try {
      for (const { uri, ...page } of open) {
        const call = await this.#resolution.resolve({ ...page, uri }, context, callers);
        if (this.#findTask(call.uri)) throw failure("wrongKind", `"${call.uri}" is not a page, and cannot be put on the stack`);
        shown.push(await this.#show({ style: "push", ...call }, context, callers));
      }
    } catch (error) {
      for (const { page } of shown.reverse()) this.#closed(page, "cancelled", {});
      throw error;
    }
    const change = this.stack.edit(remove, shown.map(({ page }) => page), exts);
    for (const { page, handler } of shown) if (handler !== undefined) void this.#run(page, handler);
    return change;
  }

  /**
   * Asks a host to show a page, unless the app itself shows it. The page is not on the stack yet.
   * @param {ResolvedCall} call with its style
   * @param {RunContext} context
   * @param {MockClient[]} callers as for `open`
   * @returns {Promise<{page: Page, handler?: MockPageHandler}>} `handler`: the app's own
   */
  async #show(call, context, callers) {
    const { uri, exts, style, from } = call;
    const [own, hosted] = [this.#routes.pages.find(uri), this.#hosted.page.all(uri)];
    if (own === undefined && hosted.length === 0) throw noRoute(uri);
    const page = (/** @type {import("../uri/uri-map.js").Found<any>} */ found) => {
      this.#lastPage += 1;
      /** @type {Page} */
      const made = { id: `p${this.#lastPage}`, uri, route: null, params: merged(found, call), exts, style, opener: from };
      return made;
    };
    const opened =
      own !== undefined
        ? page(own)
        : await firstAccepting(uri, hosted, async (found) => {
            const wanted = page(found);
            this.#hosts.set(wanted.id, found.handler);
            try {
              await found.handler.peer.request("page.open", { page: wanted, host: found.host, caller: this.#caller(callers) }, { signal: context.signal, callers });
            } catch (error) {
              this.#hosts.delete(wanted.id);
              throw error;
            }
            return wanted;
          });
    this.#openers.set(opened.id, callers.at(-1));
    return { page: opened, handler: own?.handler };
  }

  /**
   * @param {any} params
   * @param {RunContext} context
   * @param {MockClient[]} callers as for `open`
   */
  async invoke(params, context, callers = []) {
    return this.#perform(await this.#resolution.resolve(params, context, callers), context, callers);
  }

  /**
   * Runs a task.
   * @param {ResolvedCall} call
   * @param {RunContext} context
   * @param {MockClient[]} callers as for `open`
   */
  #perform(call, { signal, progress }, callers) {
    const { uri, exts, key } = call;
    const [own, hosted] = [this.#routes.tasks.all(uri), this.#hosted.task.all(uri)];
    if (own.length === 0 && hosted.length === 0) {
      throw this.canOpen(uri).canOpen ? failure("wrongKind", `"${uri}" is a page; call open`) : noRoute(uri);
    }
    return firstAccepting(uri, [...own, ...hosted], ({ handler, host, params }) => {
      const all = merged({ params }, call);
      if (handler instanceof MockClient) {
        return handler.peer.request("task.run", { uri, params: all, exts, host, key, caller: this.#caller(callers) }, { signal, onProgress: progress, callers });
      }
      return runHandler(signal, () => handler(all, { uri, exts, signal, progress, ...this.#results.context([host], { key, caller: this.#caller(callers) }) }));
    });
  }

  /**
   * Delivers a deep link, once for each key. Without a table, an action resolves to its URL.
   * @param {any} params
   * @param {RunContext} context
   * @param {MockClient[]} callers as for `open`
   */
  deliver({ uri, action_url, params, style, exts, key }, context, callers) {
    if (key !== undefined && this.#deliveredKeys.has(key)) return null;
    this.#deliveredKeys.add(key);
    // The response does not depend on the result of the link.
    this.open({ uri: uri ?? action_url, params, style, exts }, { ...context, progress: () => {} }, callers).catch(() => {});
    return null;
  }

  /**
   * Sends an event to the clients that are subscribed to its topic.
   * @param {string} topic
   * @param {unknown} data
   * @param {string} [client] the client that publishes it
   * @returns the number of these clients
   */
  publish(topic, data, client) {
    const subscribers = [...this.clients].filter((each) => each.isSubscribed(topic));
    for (const { peer } of subscribers) peer.notify("event", { topic, data, at: Date.now(), client });
    return subscribers.length;
  }

  /**
   * Calls a method of a page, on the client that runs in it or else on the client that shows it.
   * @param {{page: string, method: string, params?: object, key?: string}} call
   * @param {RunContext} context
   * @param {MockClient[]} callers as for `open`
   */
  call({ page, method, params = {}, key }, { signal, progress }, callers) {
    const [first, ...others] = this.clients;
    const client = others.find((each) => each.page === page) ?? this.#hosts.get(page) ?? first;
    return client.peer.request("page.call", { page, method, params, key, caller: this.#caller(callers) }, { signal, onProgress: progress, callers });
  }

  /**
   * Describes the first caller for a host.
   * @param {MockClient[]} callers as for `open`
   */
  #caller(callers) {
    const client = callers.at(-1);
    return { session: this.id, ...(client && { client: { id: "mock", page: client.page } }), ...(client?.isGuest && { guest: true }) };
  }

  /**
   * Runs a page of the app itself, and closes it with its result.
   * @param {Page} page
   * @param {MockPageHandler} handler
   */
  async #run(page, handler) {
    const controller = new AbortController();
    this.#shown.set(page.id, controller);
    try {
      const data = await runHandler(controller.signal, () => handler(page.params, { page, signal: controller.signal }));
      this.#end(page, "finished", { data: data ?? null });
    } catch (error) {
      const { code, message } = /** @type {import("../values/errors.js").BridgeError} */ (error);
      this.#end(page, "failed", { code, message });
    }
  }

  /**
   * @param {Page} page
   * @param {"finished" | "failed" | "cancelled"} outcome
   * @param {import("./stack.js").Result} [result]
   */
  #end({ id }, outcome, result) {
    if (this.stack.contains(id) !== null) this.stack.finish(id, outcome, result);
  }

  /**
   * @param {Page} page
   * @param {import("../types/api.js").PageChanges} changes
   */
  #resumed({ id }, changes) {
    for (const client of this.clients) {
      if (client.page === id || client === this.#hosts.get(id)) client.peer.notify("page.resume", { page: id, ...changes });
    }
  }

  /**
   * @param {Page} page
   * @param {Outcome["outcome"]} reason
   * @param {import("../types/api.js").Params} exts
   */
  #closed({ id }, reason, exts) {
    this.#shown.get(id)?.abort(cancelled());
    this.#shown.delete(id);
    const host = this.#hosts.get(id);
    this.#hosts.delete(id);
    this.#openers.delete(id);
    this.#guards.delete(id);
    // Empty exts are omitted, like on a server.
    const closed = Object.keys(exts).length > 0 ? { page: id, reason, exts } : { page: id, reason };
    // The host's response is not needed.
    host?.peer.request("page.close", closed).catch(() => {});
  }

  /**
   * @param {string} page
   * @param {MockClient | undefined} client the client to ask before the page closes
   */
  setGuard(page, client) {
    if (client === undefined) this.#guards.delete(page);
    else this.#guards.set(page, client);
    return null;
  }

  /**
   * Asks the guards of pages that an operation would close. Throws if one of them keeps its page open.
   * @param {Page[]} closing lowest first
   * @param {"dismissed" | "replaced"} reason
   * @param {import("../types/api.js").Params} [exts] those of the operation
   */
  async askGuards(closing, reason, exts) {
    if (exts?.force === true) return;
    const to = this.stack.pages.filter((page) => !closing.includes(page)).at(-1);
    for (const { id } of [...closing].reverse()) {
      const params = { page: id, reason, to: to && { page: to.id, uri: to.uri }, caller: this.#caller([]) };
      const verdict = await this.#guards.get(id)?.peer.request("page.leave", params);
      if (verdict === undefined || verdict.allow === true) continue;
      const why = verdict.reason ?? "";
      throw bridgeError(codeOf.refused, `The page "${id}" does not close: ${why}`, { data: { kind: "leaveRefused", retryable: false, page: id, reason: why } });
    }
  }

  /** @param {string} uri */
  canOpen(uri) {
    if (this.#findTask(uri)) return { canOpen: true, kind: "task" };
    return this.#routes.pages.find(uri) ?? this.#hosted.page.find(uri) ? { canOpen: true, kind: "page" } : { canOpen: false };
  }

  /** @param {string} uri */
  #findTask(uri) {
    return this.#routes.tasks.find(uri) ?? this.#hosted.task.find(uri);
  }
}

/**
 * Returns the result of the first candidate that does not decline.
 * @template Found, Value
 * @param {string} uri
 * @param {Found[]} candidates
 * @param {(candidate: Found) => Promise<Value>} request
 */
async function firstAccepting(uri, candidates, request) {
  for (const candidate of candidates) {
    try {
      return await request(candidate);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== codeOf.noRoute || error.kind !== "declined") throw error;
    }
  }
  throw new DeclinedError(`All hosts of "${uri}" declined`);
}
