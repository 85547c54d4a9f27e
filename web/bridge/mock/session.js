// @ts-check
import { failure } from "../errors.js";
import { finished } from "../fallback.js";
import { served } from "../methods.js";
import { Registry } from "../registry.js";
import { covers } from "../subscriptions.js";
import { queryOf, withoutDots } from "../uri.js";
import { MockStack } from "./stack.js";

/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").Outcome} Outcome */
/** @typedef {import("../serving.js").RequestContext} RequestContext */
/** @typedef {import("../serving.js").RequestHandler} RequestHandler */
/** @typedef {import("./app.js").MockPageHandler} MockPageHandler */

/** One session of a mocked app: what the bridge hosts and wants in it, and its pages. */
export class MockSession {
  /** @type {{page: Registry<true>, task: Registry<true>, service: Registry<true>}} */
  #hosted = { page: new Registry(), task: new Registry(), service: new Registry() };
  /** @type {Map<string, {host: any, remove: () => void}>} by what was declared */ #hosts = new Map();
  /** @type {Set<string>} */ #topics = new Set();
  /** @type {Map<string, AbortController>} the app's own pages by id */ #shown = new Map();
  #lastPage = 0;
  #routes;
  #peer;
  #stack = new MockStack({
    closed: (page, reason, exts) => this.#closed(page, reason, exts),
    resumed: (page) => this.#shown.has(page.id) || this.#peer.notify("page.resume", { page: page.id }),
  });

  /**
   * What it answers to the bridge, by method.
   * @type {Map<string, RequestHandler>}
   */
  methods = new Map(/** @type {[string, RequestHandler][]} */ ([
    ["router.open", (params, context) => this.open(params, context)],
    ["router.invoke", (params, context) => this.invoke(params, context)],
    ["router.canOpen", ({ uri }) => this.#canOpen(uri)],
    ["router.routes", () => []],
    ["navigation.stack", () => ({ pages: this.#stack.pages })],
    ["navigation.contains", ({ uri }) => this.#stack.contains(uri)],
    ["navigation.back", (params) => this.#stack.back(params)],
    ["navigation.finish", (params) => this.#finish(params)],
    ["page.call", (params, { signal, progress }) => this.#peer.request("page.call", params, { signal, onProgress: progress })],
    ["host.register", ({ hosts }) => this.register(hosts)],
    ["host.unregister", ({ hosts }) => this.#unregister(hosts)],
    ["events.subscribe", ({ topics }) => this.#subscribe(topics)],
    ["events.unsubscribe", ({ topics }) => this.#unsubscribe(topics)],
    ["rpc.discover", () => ({ methods: ["session.open", ...this.methods.keys()].map((name) => ({ name })) })],
  ]));

  /**
   * @param {import("./app.js").Routes} routes
   * @param {import("../peer.js").Peer} peer
   */
  constructor(routes, peer) {
    this.#routes = routes;
    this.#peer = peer;
  }

  /** The bridge has left. */
  end() {
    for (const controller of this.#shown.values()) controller.abort(failure("cancelled"));
  }

  /** @param {string} topic */
  wants(topic) {
    return [...this.#topics].some((each) => covers(each, topic));
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   * @returns {Promise<Outcome>}
   */
  async open(params, context) {
    const { exts = {}, style = "push", from } = params;
    const uri = withoutDots(params.uri);
    if (this.#findTask(uri)) return finished(await this.invoke(params, context));
    const own = this.#routes.pages.find(uri);
    const found = own ?? this.#hosted.page.find(uri);
    if (found === undefined) throw noRoute(uri);
    const there = style === "popTo" ? this.#stack.popTo(uri, exts) : undefined;
    if (there !== undefined) return there.outcome;
    this.#lastPage += 1;
    const given = own?.params ?? Object.fromEntries(queryOf(uri));
    /** @type {Page} */
    const page = { id: `p${this.#lastPage}`, uri, route: null, params: { ...given, ...params.params }, exts, style, opener: from };
    if (own === undefined) await this.#peer.request("page.open", { page }, { signal: context.signal });
    const outcome = this.#stack.add(page);
    context.progress({ opened: { page: page.id } });
    context.signal.addEventListener("abort", () => this.#end(page, "cancelled"));
    if (own !== undefined) void this.#show(page, own.handler);
    return outcome;
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   */
  async invoke({ uri: called, params, exts = {} }, { signal, progress }) {
    const uri = withoutDots(called);
    const own = this.#routes.tasks.find(uri);
    if (own !== undefined) {
      return served(signal, () => own.handler({ ...own.params, ...params }, { uri, exts, signal, progress }));
    }
    const theirs = this.#hosted.task.find(uri);
    if (theirs === undefined) throw this.#canOpen(uri).canOpen ? failure("wrongKind", `${uri} is a page: open it`) : noRoute(uri);
    const run = { uri, params: { ...Object.fromEntries(queryOf(uri)), ...params }, exts };
    return this.#peer.request("task.run", run, { signal, onProgress: progress });
  }

  /** @param {any[]} hosts */
  register(hosts) {
    for (const host of hosts) {
      const kind = /** @type {"page" | "task" | "service"} */ (host.kind);
      this.#hosts.get(JSON.stringify(host))?.remove();
      this.#hosts.set(JSON.stringify(host), { host, remove: this.#hosted[kind].add(host, true) });
    }
    return { hosts: [...this.#hosts.values()].map(({ host }) => host) };
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
  #finish({ page, result, exts }) {
    if (page === undefined) throw failure("invalidParams", "navigation.finish needs a page: a mocked bridge runs in none");
    return this.#stack.finish(page, "finished", result, exts);
  }

  /**
   * Runs the app's own page, and ends it with what comes of that.
   * @param {Page} page
   * @param {MockPageHandler} handler
   */
  async #show(page, handler) {
    const controller = new AbortController();
    this.#shown.set(page.id, controller);
    try {
      const data = await served(controller.signal, () => handler(page.params, { page, signal: controller.signal }));
      this.#end(page, "finished", { data: data ?? null });
    } catch (error) {
      const { code, message } = /** @type {import("../errors.js").BridgeError} */ (error);
      this.#end(page, "failed", { code, message });
    }
  }

  /**
   * @param {Page} page
   * @param {"finished" | "failed" | "cancelled"} outcome
   * @param {import("./stack.js").Result} [result]
   */
  #end({ id }, outcome, result) {
    if (this.#stack.contains(id) !== null) this.#stack.finish(id, outcome, result);
  }

  /**
   * @param {Page} page
   * @param {Outcome["outcome"]} reason
   * @param {import("../types.js").Params} exts
   */
  #closed({ id }, reason, exts) {
    const own = this.#shown.get(id);
    this.#shown.delete(id);
    own?.abort(failure("cancelled"));
    if (own !== undefined) return;
    // As a server does, it leaves empty exts out.
    const told = Object.keys(exts).length > 0 ? { page: id, reason, exts } : { page: id, reason };
    // What the host answers changes nothing.
    this.#peer.request("page.close", told).catch(() => {});
  }

  /** @param {string} uri */
  #canOpen(uri) {
    if (this.#findTask(uri)) return { canOpen: true, kind: "task" };
    return this.#routes.pages.find(uri) ?? this.#hosted.page.find(uri) ? { canOpen: true, kind: "page" } : { canOpen: false };
  }

  /** @param {string} uri */
  #findTask(uri) {
    return this.#routes.tasks.find(uri) ?? this.#hosted.task.find(uri);
  }
}

/** @param {string} uri */
function noRoute(uri) {
  return failure("noRoute", `the mocked app has no ${uri}`);
}
