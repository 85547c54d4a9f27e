// @ts-check
import { Caller } from "./caller.js";
import { check } from "./backoff.js";
import { deputy } from "./deputy.js";
import { Duties } from "./duties.js";
import { inviting } from "./invitation.js";
import { Serving } from "./serving.js";

export * from "./caller.js";
export { Declined } from "./errors.js";

/** @typedef {import("./types.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Params} Params */
/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {import("./types.js").MethodHandler} MethodHandler */
/** @typedef {import("./types.js").Unregister} Unregister */

/**
 * A client of one session that calls, and that others call: it shows pages, runs tasks, answers methods and invites. Its hosts and tasks are
 * announced to each new session, while the pages of that are those that are opened in it.
 *
 * Events are those of a `Caller`, and `resume` with `{page}`, the id of a page of this client that is on top again.
 * @template [Routes=any] what is known of the routes: the `Routes` of the file that was generated from the table
 * @extends {Caller<Routes>}
 */
export class Host extends Caller {
  #duties;

  /**
   * @param {BridgeOptions} [options]
   * @param {import("./types.js").Parts} [parts]
   */
  constructor(options = {}, parts = {}) {
    const acting = (/** @type {import("./serving.js").Served | undefined} */ request) => deputy(/** @type {any} */ (this), request);
    /** @type {Duties | undefined} */
    let duties;
    const own = { Serving, of: (/** @type {import("./client.js").Client} */ client) => (duties = new Duties(acting, client)) };
    super(options, { ...parts, duties: own });
    this.#duties = /** @type {Duties} */ (duties);
    try {
      // The session will open later, and then knows of all of these.
      for (const [scheme, host] of Object.entries(options.hosts ?? {})) this.host(scheme, host);
      for (const [uri, handler] of Object.entries(options.tasks ?? {})) this.task(uri, handler);
      for (const [name, handler] of Object.entries(options.methods ?? {})) this.method(name, handler);
    } catch (error) {
      // Nobody gets this bridge, so nobody could close it.
      void this.close();
      throw error;
    }
  }

  /**
   * Shows the pages of a scheme, or those that fit `host.patterns`.
   * @param {string} scheme such as `native`
   * @param {PageHost} host
   * @returns {Unregister}
   */
  host(scheme, host) {
    return this.#duties.announce(this.#duties.hosting.addPages(scheme, host));
  }

  /**
   * Runs the tasks of a URI or pattern, such as `action://share`. What the handler throws reaches the caller: with its `code`
   * when that is the application's (1…1999, from 3000), else as 2502. `Declined` leaves the call to who comes next.
   * @param {string} uri
   * @param {TaskHandler} handler
   * @returns {Unregister}
   */
  task(uri, handler) {
    return this.#duties.announce(this.#duties.hosting.addTask(uri, handler));
  }

  /**
   * Answers the server when it calls this client, and others when they call the page in which this client runs. What the
   * handler throws is treated as of a task.
   * @param {string} name
   * @param {MethodHandler} handler
   * @returns {() => void} takes it back
   */
  method(name, handler) {
    return this.#duties.methods.add(name, handler);
  }

  /**
   * Puts a page that this client opened by other means on top of the stack, as its host. `host` is told when it closes; without,
   * the last host of the URI's scheme is.
   * @param {string} uri
   * @param {Params} [params]
   * @param {{style?: "push" | "present", host?: PageHost}} options
   * @returns {Promise<Page>}
   */
  async adopt(uri, params, { style, host } = {}) {
    const page = await this.request("navigation.adopt", { uri, params, style });
    this.#duties.hosting.pages.adopt(page, host);
    return page;
  }

  /**
   * Invites a page into the session: gives the address to load it from. A `new Bridge()` there joins as a guest, with the rights
   * that the options name and no more. Who was invited can not invite (2403).
   * @param {string | URL} url of the page; what its fragment says stays
   * @param {import("./types.js").InviteOptions} options
   * @returns {Promise<string>} keep it out of logs: whoever has it may come, until it expires
   */
  async invite(url, { expires, frame, ...rights } = {}) {
    if (expires !== undefined) check("expires", expires);
    const { session, token } = await this.request("session.invite", { ...rights, expiresMs: expires });
    // It is connected, so it knows where to.
    return inviting(url, { url: this.#duties.url, session, token, frame: frame ?? rights.page });
  }

  /**
   * The pages of the session, bottom first.
   * @returns {Promise<import("./types.js").Stack>}
   */
  stack() {
    return this.request("navigation.stack");
  }

  /**
   * The page on the stack with that id, URI or name of its route, nearest to the top.
   * @param {string} uri
   * @returns {Promise<Page | null>}
   */
  contains(uri) {
    return this.request("navigation.contains", { uri });
  }

  /**
   * Shows a tab: by its number in the table, from 0, or by a reference to its first page.
   * @param {number | string} tab
   * @returns {Promise<import("./types.js").NavigationChange>}
   */
  selectTab(tab) {
    return this.request("navigation.selectTab", typeof tab === "number" ? { index: tab } : { uri: tab });
  }
}
