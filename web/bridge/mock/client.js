// @ts-check
import { failure } from "../values/errors.js";
import { covers } from "../events/subscriptions.js";
import { interceptorDeclaration } from "./interceptors.js";
import { forbidden } from "./invitation.js";

/** @typedef {import("../calls/incoming-requests.js").RequestHandler} RequestHandler */
/** @typedef {import("../calls/incoming-requests.js").RequestContext} RequestContext */

const VISIBILITY = "page.visibility";

/** One bridge in a session of a mocked app, with its hosts, subscriptions and rights. */
export class MockClient {
  /** Sends requests and notifications to the bridge. */
  peer;
  /** The page in which it runs. */
  page;
  /** @type {Map<string, {host: any, remove: () => void}>} by declaration */ #hosts = new Map();
  /** @type {Set<string>} */ #topics = new Set();
  #session;
  #invitation;

  /**
   * The methods that it can call.
   * @type {Map<string, RequestHandler>}
   */
  methods = new Map(/** @type {[string, RequestHandler][]} */ ([
    ["session.invite", (params) => this.#invite(params)],
    ["session.clients", () => ({ clients: [...this.isGuest ? [this] : this.#session.clients].map(presence) })],
    ["session.gates", () => ({ gates: this.#session.gates.states })],
    ["session.setGate", (params) => this.#setGate(params)],
    ["router.open", (params, context) => this.#session.open(...this.#authorized(params, context))],
    ["router.invoke", (params, context) => this.#session.invoke(...this.#authorized(params, context))],
    ["router.deliver", (params, context) => this.#session.deliver(...this.#authorized(params, context))],
    ["router.canOpen", (params) => this.#canOpen(params)],
    ["router.routes", () => []],
    ["navigation.stack", () => ({ pages: this.#session.stack.pages.map((page) => this.#visible(page)) })],
    ["navigation.contains", ({ uri }) => this.#contains(uri)],
    ["navigation.back", (params) => this.#back(params)],
    ["navigation.finish", (params) => this.#finish(params)],
    ["navigation.edit", (params, context) => this.#edit(params, context)],
    ["page.call", (params, context) => this.#call(params, context)],
    ["page.setGuard", (params) => this.#session.setGuard(this.#ownPage(params), params.enabled === false ? undefined : this)],
    ["page.setResult", (params) => this.#session.stack.setResult(this.#ownPage(params), params.result ?? undefined)],
    ["host.register", ({ hosts }) => this.register(hosts)],
    ["host.unregister", ({ hosts }) => this.#unregister(hosts)],
    ["events.subscribe", ({ topics }) => this.#subscribe(topics)],
    ["events.unsubscribe", ({ topics }) => this.#unsubscribe(topics)],
    ["events.publish", ({ topic, data, clear }) => (clear && data === undefined ? { delivered: 0, waiting: 0 } : this.#publish(topic, data))],
    ["rpc.discover", () => ({ methods: ["session.open", ...this.methods.keys()].map((name) => ({ name })) })],
  ]));

  /**
   * @param {import("./session.js").MockSession} session
   * @param {import("../calls/peer.js").Peer} peer
   * @param {{page?: string, invitation?: import("./invitation.js").MockInvitation}} place a guest has an invitation
   */
  constructor(session, peer, { page, invitation }) {
    this.#session = session;
    this.peer = peer;
    this.page = invitation?.page ?? page;
    this.#invitation = invitation;
  }

  get isGuest() {
    return this.#invitation !== undefined;
  }

  /** @param {string} topic */
  isSubscribed(topic) {
    return [...this.#topics].some((each) => covers(each, topic));
  }

  /** @param {any[]} hosts */
  register(hosts) {
    this.#invitation?.checkHosts(hosts);
    for (const host of hosts.map(normalized)) {
      if (this.isGuest && host.kind === "interceptor") throw forbidden("A guest cannot register an interceptor");
      this.#hosts.get(JSON.stringify(host))?.remove();
      this.#hosts.set(JSON.stringify(host), { host, remove: this.#session.host(host, this) });
    }
    return { hosts: [...this.#hosts.values()].map(({ host }) => host) };
  }

  /** @param {boolean} isLost `false`: it has closed its connection and does not return */
  leave(isLost) {
    for (const { remove } of this.#hosts.values()) remove();
    if (isLost) this.#invitation?.release();
  }

  /** @param {any[]} hosts */
  #unregister(hosts) {
    for (const host of hosts.map(normalized)) {
      this.#hosts.get(JSON.stringify(host))?.remove();
      this.#hosts.delete(JSON.stringify(host));
    }
    return this.register([]);
  }

  /** @param {string[]} topics */
  #subscribe(topics) {
    const isFirst = !this.isSubscribed(VISIBILITY);
    for (const topic of topics) this.#topics.add(topic);
    // After the response, like on a server.
    if (isFirst) setTimeout(() => this.#session.stack.pages.filter((page) => this.#isOwn(page)).forEach((page) => this.reportVisibility(page)));
    return { topics: [...this.#topics] };
  }

  /** @param {string[]} topics */
  #unsubscribe(topics) {
    for (const topic of topics) this.#topics.delete(topic);
    return { topics: [...this.#topics] };
  }

  /**
   * Publishes an event in the session. A mocked app has no route table, so that it accepts every topic but those of the server.
   * @param {string} topic
   * @param {unknown} [data]
   */
  #publish(topic, data = null) {
    if (/^(session|page|task|route|server|table)\./.test(topic)) throw failure("invalidParams", `The topic "${topic}" is the server's own`);
    if (this.#invitation?.mayPublish(topic) === false) throw forbidden(`This guest cannot publish "${topic}"`);
    return { delivered: this.#session.publish(topic, data, "mock"), waiting: 0 };
  }

  /**
   * Sends the event with the visibility of a page, if the client is subscribed to it. A guest only gets those of its own pages.
   * @param {import("../types/api.js").Page} page
   */
  reportVisibility(page) {
    if (!this.isSubscribed(VISIBILITY) || (this.isGuest && !this.#isOwn(page))) return;
    const data = { page: page.id, uri: page.uri, route: page.route, visibility: this.#session.stack.visibility(page) };
    this.peer.notify("event", { topic: VISIBILITY, data, at: Date.now() });
  }

  /**
   * Whether the client runs in a page, shows it, or has opened it.
   * @param {import("../types/api.js").Page} page
   */
  #isOwn({ id }) {
    return this.page === id || this.#session.belongsTo(id, this);
  }

  /** @param {any} params */
  #invite(params) {
    if (this.isGuest) throw forbidden("A guest cannot invite");
    return this.#session.invite(params);
  }

  /**
   * Returns the clients that must have the right to a call: this one and, if the call is on behalf of a request, its callers.
   * @param {any} params
   * @returns {MockClient[]}
   */
  #callers({ onBehalfOf }) {
    if (onBehalfOf === undefined) return [this];
    const callers = /** @type {MockClient[] | undefined} */ (this.peer.calls.get(onBehalfOf)?.options.callers);
    if (callers !== undefined) return [this, ...callers];
    throw failure("invalidParams", "onBehalfOf must be the id of a page.open, task.run or page.call without a response");
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   * @returns {[any, RequestContext, MockClient[]]} the arguments of the session's function; the clients are the callers
   */
  #authorized(params, context) {
    const uri = params.uri ?? params.action_url;
    const callers = this.#callers(params);
    if (!callers.every((each) => each.mayCall(uri))) throw forbidden(`This guest cannot call "${uri}"`);
    return [{ from: this.page, ...params }, context, callers];
  }

  /** @param {any} params */
  #canOpen(params) {
    const may = this.#callers(params).every((each) => each.mayCall(params.uri));
    return may ? this.#session.canOpen(params.uri) : { canOpen: false };
  }

  /** @param {string} uri */
  mayCall(uri) {
    return this.#invitation?.mayCall(uri) ?? true;
  }

  /** @param {any} params */
  #setGate({ gate, open }) {
    if (this.isGuest) throw forbidden("A guest cannot open or close a gate");
    if (typeof gate !== "string" || typeof open !== "boolean") throw failure("invalidParams", "session.setGate needs gate and open");
    this.#session.gates.set(gate, open);
    return null;
  }

  /** @param {any} params */
  async #finish({ page = this.page, result, exts }) {
    if (page === undefined) throw failure("invalidParams", "navigation.finish needs a page, because this bridge runs in none");
    this.#checkClosing(page);
    await this.#session.askGuards(this.#session.stack.closing(page).slice(1), "dismissed", exts);
    return this.#session.stack.finish(page, "finished", result, exts);
  }

  /** @param {any} params */
  async #back(params) {
    this.#checkClosing(params);
    await this.#session.askGuards(this.#session.stack.closing(params), "dismissed", params.exts);
    return this.#session.stack.back(params);
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   */
  #edit(params, context) {
    const { remove, open = [] } = params;
    const isRange = remove === undefined || [remove.page, remove.from, remove.above, remove.all].filter((each) => each !== undefined).length === 1;
    if (!isRange || (open.length === 0 && (remove === undefined || remove.all))) {
      throw failure("invalidParams", "navigation.edit needs open, or remove with one of page, from, above and all; all needs open");
    }
    if (!this.#session.stack.removedBy(remove).every(({ id }) => this.#owns(id))) {
      throw forbidden("A guest can only close the page in which it runs, and pages that it shows or has opened");
    }
    const denied = open.find((/** @type {any} */ { uri }) => !this.mayCall(uri));
    if (denied !== undefined) throw forbidden(`This guest cannot call "${denied.uri}"`);
    return this.#session.edit(params, context, [this]);
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   */
  #call(params, context) {
    const callers = this.#callers(params);
    if (!callers.every((each) => each.#owns(params.page))) throw forbidden(`The page "${params.page}" does not belong to this guest`);
    return this.#session.call(params, context, callers);
  }

  /**
   * Returns the page that the params name, or in which this bridge runs.
   * @param {any} params
   * @returns {string}
   */
  #ownPage({ page = this.page }) {
    if (page === undefined) throw failure("invalidParams", "The page is missing, because this bridge runs in none");
    if (!this.#owns(page)) throw forbidden(`The page "${page}" does not belong to this guest`);
    return page;
  }

  /** @param {string} uri */
  #contains(uri) {
    const page = this.#session.stack.contains(uri);
    return page !== null && this.#owns(page.id) ? page : null;
  }

  /** @param {any} params the params of `navigation.back`, or the id of a page that finishes */
  #checkClosing(params) {
    if (!this.#session.stack.closing(params).every(({ id }) => this.#owns(id))) {
      throw forbidden("A guest can only close the page in which it runs, and pages that it shows or has opened");
    }
  }

  /** @param {string} page */
  #owns(page) {
    return this.#invitation === undefined || page === this.page || this.#session.belongsTo(page, this);
  }

  /**
   * Returns a page as this bridge may see it: of other clients' pages a guest sees neither URI nor parameters.
   * @param {import("../types/api.js").Page} page
   */
  #visible(page) {
    if (this.#owns(page.id)) return page;
    const { uri, params, ...rest } = page;
    return rest;
  }
}

/**
 * Returns a declaration as the server keeps it, so that equal ones can be compared.
 * @param {any} host
 */
function normalized(host) {
  return host.kind === "interceptor" ? interceptorDeclaration(host) : host;
}

/**
 * @param {MockClient} client
 * @returns {import("../types/api.js").PresentClient}
 */
function presence({ page, isGuest }) {
  return { client: "mock", page, ...isGuest && { guest: true } };
}
