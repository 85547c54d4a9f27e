// @ts-check
import { Announcements } from "./announcements.js";
import { ping } from "./calling.js";
import { codeOf } from "./codes.js";
import { failure, textOf } from "./errors.js";
import { Hosting } from "./hosting.js";
import { Methods } from "./methods.js";
import { asked } from "./serving.js";

/** Milliseconds that the hosts of a page that was loaded again may come after its connection. */
const PATIENCE = 10000;

/** @typedef {import("./types.js").MethodHandler} MethodHandler */
/** @typedef {import("./registry.js").Declaration} Declaration */

/** What a client does for others, as the server knows it: hosts that are announced, requests that reach them, and pages that they show. */
export class Duties {
  methods = new Methods();
  hosting = new Hosting(this.methods);
  /** Whether the session at hand was told of all that was there when it opened. */
  #greeted = false;
  /** Whether the server was restarted since it was last told, so that the pages are to be compared with its picture. */
  #isRestarted = false;
  #acting;
  #announcements;
  #client;

  /**
   * @param {(request?: import("./serving.js").Served) => import("./types.js").Deputy} acting what acts for the caller of a request, or for
   *   this client itself
   * @param {import("./client.js").Client} client
   */
  constructor(acting, client) {
    this.#announcements = new Announcements(client);
    this.#acting = acting;
    this.#client = client;
  }

  /** Where its server is, once it is connected. */
  get url() {
    return String(this.#client.entry.url);
  }

  /**
   * Who answers a request.
   * @param {string} method
   * @returns {import("./serving.js").RequestHandler | undefined}
   */
  request(method) {
    const handler = this.hosting.requests.get(method) ?? this.methods.handler(method);
    return handler && ((params, { request, ...context }) => handler(params, { ...context, ...this.#acting(request) }));
  }

  /**
   * Who hears a notification.
   * @param {string} method
   * @returns {import("./peer.js").NotificationHandler | undefined}
   */
  notification(method) {
    if (method === "page.resume") return ({ page }) => this.#resume(page);
    const handler = this.methods.handler(method);
    return handler && ((params) => handler(params, { ...unanswered(), ...this.#acting({ asked: (called) => asked(null, false, called) }) }));
  }

  /** What `session.open` is to say of hosts; later ones are announced on their own. */
  greet() {
    this.#greeted = true;
    const { declarations } = this.hosting;
    return declarations.length > 0 ? declarations : undefined;
  }

  /**
   * A session has opened, or goes on.
   * @param {string | undefined} page in which the client runs
   * @param {boolean} isAnew whether it goes on although its server was restarted
   */
  entered(page, isAnew) {
    this.hosting.page = page;
    if (!isAnew) return;
    this.#isRestarted = true;
    // What it had asked is no longer asked, and its stack may be an earlier one.
    this.#unask("the server was restarted");
  }

  /** The session is gone. */
  left() {
    this.#greeted = false;
  }

  /**
   * The session was lost: what it had asked is aborted, and the pages are taken away that this client showed.
   * @param {string} reason
   * @returns {string[]} the ids of the pages
   */
  clear(reason) {
    this.#unask(`the session was lost (${reason})`);
    this.#isRestarted = false;
    return this.hosting.pages.lost((cause) => this.#failed("close", cause));
  }

  /**
   * Tells a session that goes on what has changed.
   * @param {Declaration[] | undefined} before what it was told by an earlier load of the page
   */
  tell(before) {
    const { declarations } = this.hosting;
    if (before !== undefined) {
      const own = new Set(declarations.map((each) => JSON.stringify(each)));
      this.#announcements.first("host.unregister", { hosts: before.filter((each) => !own.has(JSON.stringify(each))) });
      this.#announcements.first("host.register", { hosts: declarations });
      if ([...before, ...declarations].some(isOfPages)) this.#sync();
    }
    if (this.#isRestarted) void this.#settlePages();
  }

  /**
   * @param {{declaration: Declaration, remove: () => void}} entry
   * @returns {import("./types.js").Unregister}
   */
  announce({ declaration, remove }) {
    const announcements = this.#announcements;
    const params = { hosts: [declaration] };
    const told = this.#greeted ? announcements.tell("host.register", params) : undefined;
    return announcements.undoable(told, remove, () => announcements.tell("host.unregister", params, remove));
  }

  /** Compares the pages once all has come that the server had to send before it was restarted, of which some may be shown by then. */
  async #settlePages() {
    const { hosting } = this;
    try {
      await ping(this.#client.peer);
    } catch {
      // The next connection has the same question.
      return;
    }
    this.#isRestarted = false;
    if (hosting.declarations.some(isOfPages) || !hosting.pages.isEmpty) this.#sync();
  }

  /** Compares the pages that are shown with the server's picture. */
  #sync() {
    const { peer, clock, report } = this.#client;
    const ask = (/** @type {object} */ params) => peer.request("page.sync", params, { first: true });
    /** @type {unknown} */
    let timer;
    const late = new Promise((resolve) => (timer = clock.setTimeout(() => resolve(undefined), PATIENCE)));
    const how = { failed: (/** @type {unknown} */ cause) => this.#failed("open", cause), late, own: this.#acting() };
    const synced = this.hosting.pages.sync(ask, how).catch((error) => {
      if (error.kind !== "closed" && error.code !== codeOf.outcomeUnknown) report(error);
    });
    void synced.then(() => clock.clearTimeout(timer));
  }

  /** @param {string} why */
  #unask(why) {
    this.#client.peer.serving?.interrupt(failure("outcomeUnknown", why));
  }

  /** @param {string} page */
  #resume(page) {
    this.#client.emit("resume", { page });
    this.hosting.pages.resume(page).catch((cause) => this.#failed("resume", cause));
  }

  /**
   * @param {string} what
   * @param {unknown} cause
   */
  #failed(what, cause) {
    this.#client.report(failure("internal", `${what} of a host failed: ${textOf(cause)}`, { cause }));
  }
}

/** In what a notification is heard: nobody waits for anything. */
function unanswered() {
  return { signal: new AbortController().signal, progress: () => {} };
}

/** @param {Declaration} declaration */
function isOfPages({ kind }) {
  return kind === "page";
}
