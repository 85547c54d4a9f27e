// @ts-check
import { codeOf } from "../codes.js";
import { BridgeError, cancelled, Declined, failure } from "../errors.js";
import { finished } from "../fallback.js";
import { served } from "../methods.js";
import { withoutDots } from "../uri.js";
import { URIMap } from "../uri-map.js";
import { MockInvitation } from "./invitation.js";
import { MockMember } from "./member.js";
import { MockStack } from "./stack.js";

/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").Outcome} Outcome */
/** @typedef {import("../serving.js").Running} Running */
/** @typedef {import("./app.js").MockPageHandler} MockPageHandler */

/** With it a bridge joins that was not invited. */
export const JOIN_TOKEN = "mock";

/** One session of a mocked app: who takes part, what they host, and the pages. */
export class MockSession {
  /** @type {Set<MockMember>} the first client first */ members = new Set();
  /** @type {{page: URIMap<MockMember>, task: URIMap<MockMember>, service: URIMap<MockMember>}} */
  #hosted = { page: new URIMap(), task: new URIMap(), service: new URIMap() };
  /** @type {Map<string, MockInvitation>} by token */ #invitations = new Map();
  /** @type {Map<string, AbortController>} the app's own pages by id */ #shown = new Map();
  /** @type {Map<string, MockMember>} who shows the others, by id */ #hosts = new Map();
  /** @type {Map<string, MockMember | undefined>} who opened each, by id */ #openers = new Map();
  #lastPage = 0;
  #routes;
  stack = new MockStack({
    closed: (page, reason, exts) => this.#closed(page, reason, exts),
    resumed: (page) => this.#hosts.get(page.id)?.peer.notify("page.resume", { page: page.id }),
  });

  /**
   * @param {string} id
   * @param {import("./inside.js").Handlers} routes
   */
  constructor(id, routes) {
    this.id = id;
    this.#routes = routes;
  }

  /**
   * @param {import("../peer.js").Peer} peer
   * @param {any} params of `session.open`
   */
  enter(peer, { join, page, hosts = [] }) {
    const invitation = this.#invitations.get(join?.token);
    invitation?.take({ page, hosts });
    const member = new MockMember(this, peer, { page, invitation });
    this.members.add(member);
    member.register(hosts);
    return member;
  }

  /**
   * @param {MockMember} member
   * @param {boolean} isLost
   */
  leave(member, isLost) {
    this.members.delete(member);
    member.leave(isLost);
    for (const [page, host] of [...this.#hosts]) {
      const { code, message } = failure("hostAbsent", "the client that showed the page is gone");
      if (host === member && this.stack.contains(page) !== null) this.stack.finish(page, "failed", { code, message });
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
  knows(token) {
    return token === JOIN_TOKEN || this.#invitations.has(token);
  }

  /**
   * @param {any} declaration
   * @param {MockMember} member
   */
  host(declaration, member) {
    return this.#hosted[/** @type {"page" | "task" | "service"} */ (declaration.kind)].add(declaration, member);
  }

  /**
   * Whether a member shows a page, or has opened it.
   * @param {string} page
   * @param {MockMember} member
   */
  isOf(page, member) {
    return this.#hosts.get(page) === member || this.#openers.get(page) === member;
  }

  /**
   * @param {any} params
   * @param {Running} context
   * @param {MockMember[]} askers whose rights it takes: who calls, and for whom, the first caller last; none: the app itself
   * @returns {Promise<Outcome>}
   */
  async open(params, context, askers = []) {
    const { exts = {}, style = "push", from } = params;
    const uri = withoutDots(params.uri);
    if (this.#findTask(uri)) return finished(await this.invoke(params, context, askers));
    const [own, hosted] = [this.#routes.pages.find(uri), this.#hosted.page.all(uri)];
    if (own === undefined && hosted.length === 0) throw noRoute(uri);
    const there = style === "popTo" ? this.stack.popTo(uri, exts) : undefined;
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
            this.#hosts.set(asked.id, found.handler);
            try {
              await found.handler.peer.request("page.open", { page: asked, host: found.host }, { signal: context.signal, asker: askers });
            } catch (error) {
              this.#hosts.delete(asked.id);
              throw error;
            }
            return asked;
          });
    this.#openers.set(opened.id, askers.at(-1));
    const outcome = this.stack.add(opened);
    context.progress({ opened: { page: opened.id } });
    context.signal.addEventListener("abort", () => this.#end(opened, "cancelled"));
    if (own !== undefined) void this.#show(opened, own.handler);
    return outcome;
  }

  /**
   * @param {any} params
   * @param {Running} context
   * @param {MockMember[]} askers as of `open`
   */
  async invoke({ uri: called, params, exts = {} }, { signal, progress }, askers = []) {
    const uri = withoutDots(called);
    const [own, hosted] = [this.#routes.tasks.all(uri), this.#hosted.task.all(uri)];
    if (own.length === 0 && hosted.length === 0) {
      throw this.canOpen(uri).canOpen ? failure("wrongKind", `${uri} is a page: open it`) : noRoute(uri);
    }
    return firstThatTakesIt(uri, [...own, ...hosted], ({ handler, params: given, host }) => {
      const all = { ...given, ...params };
      if (handler instanceof MockMember) {
        return handler.peer.request("task.run", { uri, params: all, exts, host }, { signal, onProgress: progress, asker: askers });
      }
      return served(signal, () => handler(all, { uri, exts, signal, progress }));
    });
  }

  /**
   * Without a table, an action means its URL.
   * @param {any} params
   * @param {Running} context
   * @param {MockMember[]} askers as of `open`
   */
  deliver({ uri, action_url, params }, context, askers) {
    // What becomes of the link is not the answer's to tell.
    this.open({ uri: uri ?? action_url, params }, { ...context, progress: () => {} }, askers).catch(() => {});
    return null;
  }

  /**
   * Calls a method of a page: of the client that runs in it, or else of the one that shows it.
   * @param {{page: string, method: string, params?: object}} call
   * @param {Running} context
   * @param {MockMember[]} askers as of `open`
   */
  call({ page, method, params = {} }, { signal, progress }, askers) {
    const [first, ...others] = this.members;
    const member = others.find((each) => each.page === page) ?? this.#hosts.get(page) ?? first;
    return member.peer.request("page.call", { page, method, params }, { signal, onProgress: progress, asker: askers });
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
    if (this.stack.contains(id) !== null) this.stack.finish(id, outcome, result);
  }

  /**
   * @param {Page} page
   * @param {Outcome["outcome"]} reason
   * @param {import("../types.js").Params} exts
   */
  #closed({ id }, reason, exts) {
    this.#shown.get(id)?.abort(cancelled());
    this.#shown.delete(id);
    const host = this.#hosts.get(id);
    this.#hosts.delete(id);
    this.#openers.delete(id);
    // As a server does, it leaves empty exts out.
    const told = Object.keys(exts).length > 0 ? { page: id, reason, exts } : { page: id, reason };
    // What the host answers changes nothing.
    host?.peer.request("page.close", told).catch(() => {});
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
      if (!(error instanceof BridgeError) || error.code !== codeOf.noRoute || error.kind !== "declined") throw error;
    }
  }
  throw new Declined(`everybody who serves ${uri} declined`);
}

/** @param {string} uri */
function noRoute(uri) {
  return failure("noRoute", `the mocked app has no ${uri}`);
}
