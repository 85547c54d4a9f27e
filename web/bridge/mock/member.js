// @ts-check
import { failure } from "../errors.js";
import { covers } from "../topics.js";
import { refused } from "./invitation.js";

/** @typedef {import("../serving.js").RequestHandler} RequestHandler */
/** @typedef {import("../serving.js").RequestContext} RequestContext */

/** One bridge in a session of a mocked app: what it hosts, wants and may. */
export class MockMember {
  /** What is called of it. */
  peer;
  /** The page in which it runs. */
  page;
  /** @type {Map<string, {host: any, remove: () => void}>} by what was declared */ #hosts = new Map();
  /** @type {Set<string>} */ #topics = new Set();
  #session;
  #invitation;

  /**
   * What it may ask, by method.
   * @type {Map<string, RequestHandler>}
   */
  methods = new Map(/** @type {[string, RequestHandler][]} */ ([
    ["session.invite", (params) => this.#invite(params)],
    ["router.open", (params, context) => this.#session.open(...this.#called(params, context))],
    ["router.invoke", (params, context) => this.#session.invoke(...this.#called(params, context))],
    ["router.deliver", (params, context) => this.#session.deliver(...this.#called(params, context))],
    ["router.canOpen", (params) => this.#canOpen(params)],
    ["router.routes", () => []],
    ["navigation.stack", () => ({ pages: this.#session.stack.pages.map((page) => this.#seen(page)) })],
    ["navigation.contains", ({ uri }) => this.#contains(uri)],
    ["navigation.back", (params) => this.#back(params)],
    ["navigation.finish", (params) => this.#finish(params)],
    ["page.call", (params, context) => this.#call(params, context)],
    ["host.register", ({ hosts }) => this.register(hosts)],
    ["host.unregister", ({ hosts }) => this.#unregister(hosts)],
    ["events.subscribe", ({ topics }) => this.#subscribe(topics)],
    ["events.unsubscribe", ({ topics }) => this.#unsubscribe(topics)],
    ["rpc.discover", () => ({ methods: ["session.open", ...this.methods.keys()].map((name) => ({ name })) })],
  ]));

  /**
   * @param {import("./session.js").MockSession} session
   * @param {import("../peer.js").Peer} peer
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
  wants(topic) {
    return [...this.#topics].some((each) => covers(each, topic));
  }

  /** @param {any[]} hosts */
  register(hosts) {
    this.#invitation?.checkHosts(hosts);
    for (const host of hosts) {
      this.#hosts.get(JSON.stringify(host))?.remove();
      this.#hosts.set(JSON.stringify(host), { host, remove: this.#session.host(host, this) });
    }
    return { hosts: [...this.#hosts.values()].map(({ host }) => host) };
  }

  /** @param {boolean} isLost or else it has closed its connection, and does not come again */
  leave(isLost) {
    for (const { remove } of this.#hosts.values()) remove();
    if (isLost) this.#invitation?.giveBack();
  }

  /** @param {any[]} hosts */
  #unregister(hosts) {
    for (const host of hosts) {
      this.#hosts.get(JSON.stringify(host))?.remove();
      this.#hosts.delete(JSON.stringify(host));
    }
    return this.register([]);
  }

  /** @param {string[]} topics */
  #subscribe(topics) {
    for (const topic of topics) this.#topics.add(topic);
    return { topics: [...this.#topics] };
  }

  /** @param {string[]} topics */
  #unsubscribe(topics) {
    for (const topic of topics) this.#topics.delete(topic);
    return { topics: [...this.#topics] };
  }

  /** @param {any} params */
  #invite(params) {
    if (this.isGuest) throw refused("a guest can not invite");
    return this.#session.invite(params);
  }

  /**
   * With whose rights a call is made: its own, and those of the call that it serves, where it says so.
   * @param {any} params
   * @returns {MockMember[]}
   */
  #askers({ onBehalfOf }) {
    if (onBehalfOf === undefined) return [this];
    const askers = /** @type {MockMember[] | undefined} */ (this.peer.running(onBehalfOf)?.options.asker);
    if (askers !== undefined) return [this, ...askers];
    throw failure("invalidParams", "onBehalfOf is no page.open, task.run or page.call that this bridge has not answered yet");
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   * @returns {[any, RequestContext, MockMember[]]} what the session is to do, and with whose rights
   */
  #called(params, context) {
    const uri = params.uri ?? params.action_url;
    const askers = this.#askers(params);
    if (!askers.every((each) => each.#mayCall(uri))) throw refused(`a guest may not call ${uri}`);
    return [{ from: this.page, ...params }, context, askers];
  }

  /** @param {any} params */
  #canOpen(params) {
    const may = this.#askers(params).every((each) => each.#mayCall(params.uri));
    return may ? this.#session.canOpen(params.uri) : { canOpen: false };
  }

  /** @param {string} uri */
  #mayCall(uri) {
    return this.#invitation?.mayCall(uri) ?? true;
  }

  /** @param {any} params */
  #finish({ page = this.page, result, exts }) {
    if (page === undefined) throw failure("invalidParams", "navigation.finish needs a page: this bridge runs in none");
    this.#checkClosing(page);
    return this.#session.stack.finish(page, "finished", result, exts);
  }

  /** @param {any} params */
  #back(params) {
    this.#checkClosing(params);
    return this.#session.stack.back(params);
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   */
  #call(params, context) {
    const askers = this.#askers(params);
    if (!askers.every((each) => each.#owns(params.page))) throw refused(`the page ${params.page} is none of this guest's`);
    return this.#session.call(params, context, askers);
  }

  /** @param {string} uri */
  #contains(uri) {
    const page = this.#session.stack.contains(uri);
    return page !== null && this.#owns(page.id) ? page : null;
  }

  /** @param {any} params as of `navigation.back`, or the id of a page that finishes */
  #checkClosing(params) {
    if (!this.#session.stack.closing(params).every(({ id }) => this.#owns(id))) {
      throw refused("a guest closes no pages but those in which it runs, that it shows and that it opened");
    }
  }

  /** @param {string} page */
  #owns(page) {
    return this.#invitation === undefined || page === this.page || this.#session.isOf(page, this);
  }

  /**
   * A page as this bridge may know it: of others' pages a guest learns that they are there.
   * @param {import("../types.js").Page} page
   */
  #seen(page) {
    if (this.#owns(page.id)) return page;
    const { uri, params, ...rest } = page;
    return rest;
  }
}
