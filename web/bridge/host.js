// @ts-check
import { Caller } from "./caller.js";
import { check } from "./connection/backoff.js";
import { ClientHosts } from "./hosting/client-hosts.js";
import { invitationURL } from "./session/invitation.js";
import { failure } from "./values/errors.js";

export * from "./caller.js";
export { DeclinedError } from "./values/errors.js";

/** @typedef {import("./types/api.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types/api.js").Page} Page */
/** @typedef {import("./types/api.js").Params} Params */
/** @typedef {import("./types/api.js").PageHost} PageHost */
/** @typedef {import("./types/api.js").TaskHandler} TaskHandler */
/** @typedef {import("./types/api.js").MethodHandler} MethodHandler */
/** @typedef {import("./types/api.js").Unregister} Unregister */

/**
 * A client of one session that makes calls and also handles them: it shows pages, runs tasks, has methods and invites guests. It registers its
 * hosts and tasks again in each new session; its pages belong to the session in which they were opened.
 *
 * Its events are those of a `Caller`, and `resume` with `{page}`: the id of a page of this client that is on top again. It also has `uri`, `params`
 * and `exts` if a call has changed these of the page.
 * @template [Routes=any] the `Routes` type of the file that was generated from the route table
 * @extends {Caller<Routes>}
 */
export class Host extends Caller {
  #hosts;

  /**
   * @param {BridgeOptions} [options]
   * @param {import("./types/api.js").Parts} [parts]
   */
  constructor(options = {}, parts = {}) {
    /** @type {any} */
    let hosts;
    super(options, { ...parts, hosts: (/** @type {import("./session/client.js").Client} */ client) => (hosts = new ClientHosts(client)) });
    this.#hosts = /** @type {ClientHosts} */ (hosts);
    try {
      // The session opens later and then receives all of these.
      for (const [scheme, host] of Object.entries(options.hosts ?? {})) this.host(scheme, host);
      for (const [uri, handler] of Object.entries(options.tasks ?? {})) this.task(uri, handler);
      for (const [name, handler] of Object.entries(options.methods ?? {})) this.method(name, handler);
    } catch (error) {
      // The caller does not receive this object and could not close it.
      void this.close();
      throw error;
    }
  }

  /**
   * Registers a host for the pages of a scheme, or for those that match `host.patterns`.
   * @param {string} scheme such as `native`
   * @param {PageHost} host
   * @returns {Unregister}
   */
  host(scheme, host) {
    return this.#hosts.addPages(scheme, host);
  }

  /**
   * Registers a handler for the tasks of a URI or pattern, such as `action://share`. An error that the handler throws reaches the caller: with
   * its `code` if that is a code of the application (1…1999, from 3000), otherwise as 2502. `DeclinedError` leaves the call to the next host.
   * @param {string} uri
   * @param {TaskHandler} handler
   * @returns {Unregister}
   */
  task(uri, handler) {
    return this.#hosts.addTask(uri, handler);
  }

  /**
   * Registers an interceptor, which decides about calls of the session before a handler or host gets them. It may wait, for instance until the
   * user has agreed. An error with a code of the application reaches the caller; any other error refuses the call.
   * @param {string} name the error of a refused call contains it
   * @param {import("./types/api.js").InterceptorScope} scope the calls that it sees
   * @param {import("./types/api.js").InterceptorHandler} handler
   * @returns {Unregister}
   */
  intercept(name, scope, handler) {
    return this.#hosts.addInterceptor(name, scope, handler);
  }

  /**
   * Returns the gates of the app, and which of them are open in the session.
   * @returns {Promise<import("./types/api.js").Gate[]>}
   */
  async gates() {
    return (await this.request("session.gates")).gates;
  }

  /**
   * Opens or closes a gate of the session, for example after the user has signed in or out. The calls that wait at a gate continue when it opens.
   * @param {string} gate
   * @param {boolean} open
   * @returns {Promise<null>}
   */
  setGate(gate, open) {
    return this.request("session.setGate", { gate, open });
  }

  /**
   * Registers a method that the server can call, and other clients too if they call the page in which this client runs. Errors are handled like
   * those of a task.
   * @param {string} name
   * @param {MethodHandler} handler
   * @returns {() => void} removes the method
   */
  method(name, handler) {
    return this.#hosts.addMethod(name, handler);
  }

  /**
   * Sets the leave guard of this client for a page, for example while the page has unsaved changes. Whatever would close the page, except its own
   * `finish`, then asks the guard first. A guard that throws keeps the page open. Set it again after a reload.
   * @param {import("./types/api.js").LeaveGuard | null} guard `null` removes the guard
   * @param {import("./types/api.js").GuardOptions} options
   * @returns {Promise<void>} resolves when the guard is in force
   */
  setGuard(guard, { page, timeout } = {}) {
    return this.#hosts.setGuard(guard, page, timeout);
  }

  /**
   * Adds a page that this client opened by other means to the top of the stack, with this client as its host. `host` is called when it closes;
   * default: the host of the URI's scheme that was registered last.
   * @param {string} uri
   * @param {Params} [params]
   * @param {{style?: "push" | "present", host?: PageHost}} options
   * @returns {Promise<Page>}
   */
  async adopt(uri, params, { style, host } = {}) {
    const page = await this.request("navigation.adopt", { uri, params, style });
    this.#hosts.pages.adopt(page, host);
    return page;
  }

  /**
   * Invites a page to the session and returns the URL to load it from. A `new Bridge()` in that page joins as a guest, with only the rights that
   * the options name. A guest cannot invite (2403).
   * @param {string | URL} url the URL of the page; its fragment is kept
   * @param {import("./types/api.js").InviteOptions} options
   * @returns {Promise<string>} keep it out of logs: until it expires, anyone who has it can join
   */
  async invite(url, { expires, frame, ...rights } = {}) {
    if (expires !== undefined) check("expires", expires);
    const { session, token } = await this.request("session.invite", { ...rights, expiresMs: expires });
    // The client is connected, so its URL is known.
    return invitationURL(url, { url: this.#hosts.url, session, token, frame: frame ?? rights.page });
  }

  /**
   * Returns the stack of the session, bottom first.
   * @returns {Promise<import("./types/api.js").Stack>}
   */
  stack() {
    return this.request("navigation.stack");
  }

  /**
   * Returns the page on the stack with this id, URI or route name that is nearest to the top.
   * @param {string} uri
   * @returns {Promise<Page | null>}
   */
  async contains(uri) {
    if (uri === "") throw failure("invalidParams", globalThis.__waybridgeBrief ? "contains needs a page" : "contains needs a page: its id, its URI or the name of its route");
    return this.request("navigation.contains", { uri });
  }

  /**
   * Removes pages and opens others in their place, lowest first; without `remove`, on top. The stack changes at once when the hosts of all new
   * pages have agreed, and a failure leaves it as it is. The openers of the removed pages get the outcome `replaced`, or `dismissed` if no page
   * is opened.
   * @param {import("./types/api.js").StackEdit} edit
   * @returns {Promise<import("./types/api.js").NavigationChange>}
   */
  editStack(edit) {
    const { timeout, signal, ...params } = edit;
    return this.request("navigation.edit", { ...params, deadlineMs: timeout }, { signal });
  }

  /**
   * Selects a tab: by its index in the table, from 0, or by a reference to its first page.
   * @param {number | string} tab
   * @returns {Promise<import("./types/api.js").NavigationChange>}
   */
  selectTab(tab) {
    return this.request("navigation.selectTab", typeof tab === "number" ? { index: tab } : { uri: tab });
  }
}
