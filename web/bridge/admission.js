// @ts-check
import { codeOf } from "./codes.js";
import { healthOf, isLoopback } from "./connection/endpoint-url.js";
import { BridgeAbsentError, BridgeRejectedError } from "./values/errors.js";

/** @typedef {import("./connection/connection.js").Close} Close */
/** @typedef {(url: string, options: RequestInit) => Promise<unknown>} Fetch */
/**
 * The page that connects.
 * @typedef {object} ConnectingPage
 * @property {string} origin
 * @property {{hostname: string, protocol: string}} [location]
 * @property {string} [vendor] of the browser, as in `navigator.vendor`
 * @property {Partial<Pick<EventTarget, "addEventListener" | "removeEventListener">>} target receives the events about its content security policy
 */

/** Advice for a page from another host that connects to the machine on which the browser runs. */
const PERMISSION = "the browser must allow this page to use the local network; Chrome asks the user, but only on secure pages";
/** The event about something that the content security policy of the page has blocked. */
const VIOLATION = "securitypolicyviolation";
/** Milliseconds within which that event follows an exception of the WebSocket. */
const VIOLATION_DELAY = 100;

/**
 * Finds out after a failed handshake why it failed. To a script, a browser reports these in the same way:
 *
 * - The server rejects this page. The server's `/health` responds to every page, but only pages that the server allows can read the response.
 * - The page's own server, which is the default, is not the bridge.
 * - The browser does not allow the connection.
 * - The server cannot be reached.
 */
export class Admission {
  #endpoint;
  #health;
  #page;
  #isOwnServer;
  #isFromElsewhere;
  #fetch;
  /** Whether the content security policy of the page has blocked the connection. */
  #isBlocked = false;
  /** Cancels the running requests. */
  #requests = new AbortController();

  /**
   * @param {string} endpoint
   * @param {ConnectingPage} page
   * @param {Fetch} fetch
   */
  constructor(endpoint, page, fetch) {
    const health = healthOf(endpoint);
    const hostname = page.location?.hostname ?? "";
    this.#endpoint = endpoint;
    this.#health = health;
    this.#page = page;
    this.#isOwnServer = health.origin === page.origin;
    this.#isFromElsewhere = isLoopback(health.hostname) && hostname !== "" && !isLoopback(hostname);
    this.#fetch = fetch;
    page.target.addEventListener?.(VIOLATION, this.#violated);
  }

  /**
   * Finds out why the handshake failed. Never rejects.
   * @param {Close} close the close event of the failed handshake
   * @returns {Promise<Close>} with the reason, if it was found
   */
  async diagnose(close) {
    const { signal } = (this.#requests = new AbortController());
    const response = await this.#request(this.#isOwnServer ? this.#endpoint.replace(/^ws/, "http") : this.#health.href, "cors", signal);
    // A browser whose WebSocket throws dispatches the event about the policy later, Firefox even after the failure of the request.
    if (close.final && !this.#isBlocked) await new Promise((resolve) => setTimeout(resolve, VIOLATION_DELAY));
    if (signal.aborted) return close;
    if (this.#isBlocked) return failed(close, absent(`The page's content security policy does not allow ${this.#endpoint}; add it to connect-src`));
    if (this.#isOwnServer) return this.#diagnoseOwnServer(close, response);
    // The page is allowed: the server is full or draining, or the network failed for a moment.
    if (response !== undefined) return close;
    const isReachable = (await this.#request(this.#health.href, "no-cors", signal)) !== undefined;
    if (!isReachable) return signal.aborted ? close : this.#diagnoseUnreachable(close);
    // The server may have started after the first request, which then does not show whether the page is allowed.
    if ((await this.#request(this.#health.href, "cors", signal)) !== undefined || signal.aborted) return close;
    return failed(close, new BridgeRejectedError(this.#advice, this.#page.origin));
  }

  /** Cancels the diagnosis. */
  stop() {
    this.#requests.abort();
  }

  /** Called when no further connection will be made. */
  end() {
    this.stop();
    this.#page.target.removeEventListener?.(VIOLATION, this.#violated);
  }

  #violated = (/** @type {any} */ { blockedURI, disposition }) => {
    // Some browsers omit the path.
    this.#isBlocked ||= disposition === "enforce" && blockedURI !== "" && this.#endpoint.startsWith(blockedURI);
  };

  /**
   * Finds out whether the page's own server is the bridge. The endpoint responds with 426 to a request that is no handshake, and a proxy in front
   * of it with 5xx if it is down.
   * @param {Close} close
   * @param {Response | undefined} response
   */
  #diagnoseOwnServer(close, response) {
    const { status = 0 } = response ?? {};
    if (status !== 404 && !(status >= 200 && status < 300)) return close;
    return failed(close, absent(`There is no bridge at ${this.#endpoint} (HTTP status ${status}); ` +
      'if it is elsewhere, pass its URL: new Bridge({ url: "ws://127.0.0.1:8080/bridge" })'));
  }

  /** @param {Close} close */
  #diagnoseUnreachable(close) {
    const { location, vendor = "" } = this.#page;
    // A browser does not even try. Other browsers than those with WebKit make an exception for this machine, and throw for other hosts.
    const isRefused = close.final || (!close.isClosed && vendor.startsWith("Apple"));
    if (isRefused && location?.protocol === "https:" && this.#endpoint.startsWith("ws:")) {
      return failed(close, absent(`This browser does not allow an https page to open ${this.#endpoint}; ` +
        "load the page over http, or connect to the bridge over wss"));
    }
    return this.#isFromElsewhere ? { ...close, reason: `${close.reason} (${PERMISSION})` } : close;
  }

  get #advice() {
    const { origin } = this.#page;
    const server = `The server at ${this.#health.origin} rejects pages`;
    const advice =
      origin === "null"
        ? `${server} without an origin, such as files and sandboxed frames; serve the page over HTTP, ` +
          "or start the server with --allow-origin null, which allows all such pages"
        : `${server} of ${origin}; start it with --allow-origin ${origin}`;
    return this.#isFromElsewhere ? `${advice}; also, ${PERMISSION}` : advice;
  }

  /**
   * @param {string} url
   * @param {RequestMode} mode
   * @param {AbortSignal} signal
   * @returns {Promise<Response | undefined>} `undefined`: the request failed, or was cancelled
   */
  async #request(url, mode, signal) {
    if (signal.aborted) return undefined;
    // Called as a method of this object, the browser's own function would throw.
    const fetch = this.#fetch;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
    const response = (async () => fetch(url, { mode, signal, cache: "no-store", credentials: "omit" }))();
    return Promise.race([aborted, response.catch(() => undefined)]);
  }
}

/**
 * Returns a close after which the client does not try again.
 * @param {Close} close
 * @param {BridgeAbsentError | BridgeRejectedError} cause
 * @returns {Close}
 */
function failed(close, cause) {
  return { ...close, reason: cause.message, cause, final: true };
}

/** @param {string} message */
function absent(message) {
  return new BridgeAbsentError(codeOf.unavailable, message, { data: { kind: "noBridge", retryable: false } });
}

/**
 * The part of a client that finds out why a handshake failed. It is not needed outside of a page, because only pages have an origin, nor for
 * the page's own server if the page names that as its bridge.
 * @param {string | undefined} endpoint
 * @param {Fetch | undefined} fetch
 * @param {unknown} [url] the URL that the page names, if it does
 * @returns {Admission | undefined}
 */
export function admission(endpoint, fetch, url) {
  // Not `location.origin`: a sandboxed frame does not have the origin of its location.
  const { origin, location, document, navigator } = globalThis;
  if (endpoint === undefined || fetch === undefined || typeof origin !== "string") return undefined;
  if (url !== undefined && healthOf(endpoint).origin === origin) return undefined;
  // A worker receives the events about its policy itself.
  return new Admission(endpoint, { origin, location, vendor: navigator?.vendor, target: document ?? globalThis }, fetch);
}
