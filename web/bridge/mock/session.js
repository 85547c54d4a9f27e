// @ts-check
import { codes } from "../codes.js";
import { BridgeError, Declined, failure } from "../errors.js";
import { finished } from "../fallback.js";
import { served } from "../methods.js";
import { covers } from "../subscriptions.js";
import { withoutDots } from "../uri.js";
import { URIMap } from "../uri-map.js";
import { MockStack } from "./stack.js";

/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").Outcome} Outcome */
/** @typedef {import("../serving.js").RequestContext} RequestContext */
/** @typedef {import("../serving.js").RequestHandler} RequestHandler */
/** @typedef {import("./app.js").MockPageHandler} MockPageHandler */

/** One session of a mocked app: what the bridge hosts and wants in it, and its pages. */
export class MockSession {
  /** @type {{page: URIMap<undefined>, task: URIMap<undefined>, service: URIMap<undefined>}} */
  #hosted = { page: new URIMap(), task: new URIMap(), service: new URIMap() };
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
    ["router.deliver", (params, context) => this.#deliver(params, context)],
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
    const [own, hosted] = [this.#routes.pages.find(uri), this.#hosted.page.all(uri)];
    if (own === undefined && hosted.length === 0) throw noRoute(uri);
    const there = style === "popTo" ? this.#stack.popTo(uri, exts) : undefined;
    if (there !== undefined) return there.outcome;
    const page = (/** @type {import("../uri-map.js").Found<any>} */ found) => {
      this.#lastPage += 1;
      /** @type {Page} */
      const made = { id: `p${this.#lastPage}`, uri, route: null, params: { ...found.params, ...params.params }, exts, style, opener: from };
      return made;
    };
    const opened =
      own !== undefined
        ? page(own)
        : await firstThatTakesIt(uri, hosted, async (found) => {
            const asked = page(found);
            await this.#peer.request("page.open", { page: asked, host: found.host }, { signal: context.signal });
            return asked;
          });
    const outcome = this.#stack.add(opened);
    context.progress({ opened: { page: opened.id } });
    context.signal.addEventListener("abort", () => this.#end(opened, "cancelled"));
    if (own !== undefined) void this.#show(opened, own.handler);
    return outcome;
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   */
  async invoke({ uri: called, params, exts = {} }, { signal, progress }) {
    const uri = withoutDots(called);
    const [own, hosted] = [this.#routes.tasks.all(uri), this.#hosted.task.all(uri)];
    if (own.length === 0 && hosted.length === 0) {
      throw this.#canOpen(uri).canOpen ? failure("wrongKind", `${uri} is a page: open it`) : noRoute(uri);
    }
    return firstThatTakesIt(uri, [...own, ...hosted], ({ handler, params: given, host }) => {
      const all = { ...given, ...params };
      if (handler === undefined) {
        return this.#peer.request("task.run", { uri, params: all, exts, host }, { signal, onProgress: progress });
      }
      return served(signal, () => handler(all, { uri, exts, signal, progress }));
    });
  }

  /**
   * Without a table, an action means its URL.
   * @param {any} params
   * @param {RequestContext} context
   */
  #deliver({ uri, action_url, params }, context) {
    // What becomes of the link is not the answer's to tell.
    this.open({ uri: uri ?? action_url, params }, { ...context, progress: () => {} }).catch(() => {});
    return null;
  }

  /** @param {any[]} hosts */
  register(hosts) {
    for (const host of hosts) {
      const kind = /** @type {"page" | "task" | "service"} */ (host.kind);
      this.#hosts.get(JSON.stringify(host))?.remove();
      this.#hosts.set(JSON.stringify(host), { host, remove: this.#hosted[kind].add(host, undefined) });
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

/**
 * What the first of them gives that does not decline.
 * @template Found, Value
 * @param {string} uri
 * @param {Found[]} candidates
 * @param {(candidate: Found) => Promise<Value>} ask
 */
async function firstThatTakesIt(uri, candidates, ask) {
  for (const candidate of candidates) {
    try {
      return await ask(candidate);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== codes.noRoute.code || error.kind !== "declined") throw error;
    }
  }
  throw new Declined(`everybody who serves ${uri} declined`);
}

/** @param {string} uri */
function noRoute(uri) {
  return failure("noRoute", `the mocked app has no ${uri}`);
}
