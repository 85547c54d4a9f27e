// @ts-check
import { endpoint } from "../connection/endpoint-url.js";
import { bridgeError, cancelled, failure } from "../values/errors.js";
import { codeOf } from "../codes.js";
import { checked } from "./reference.js";

/** @typedef {{ready: Promise<unknown>, request: (method: string, params?: any) => Promise<any>}} Caller */
/**
 * - `url`: the URL of the bridge, if it was given to the bridge.
 * - `retries`: how often a request that makes no progress is repeated. Default: 8.
 * - `minDelay`, `maxDelay`: milliseconds between two attempts; the delay doubles. Default: 200 and 5000.
 * - `fetch`: replaces the platform's function, in tests.
 * @typedef {{url?: string | URL, retries?: number, minDelay?: number, maxDelay?: number, fetch?: typeof fetch}} BlobsOptions
 */

/** The codes of errors by HTTP status. */
const codes = {
  400: codeOf.invalidParams, 401: codeOf.notAuthenticated, 403: codeOf.forbidden, 404: codeOf.noRoute, 409: codeOf.conflict, 413: codeOf.tooLarge,
  415: codeOf.invalidParams, 416: codeOf.invalidParams, 429: codeOf.tooMany,
};

/** The HTTP requests of one client at `/blobs`. */
export class BlobRequests {
  /** @type {Caller} */ #bridge;
  /** @type {Promise<string> | undefined} */ #token;
  #options;
  #url;

  /**
   * @param {Caller} bridge
   * @param {BlobsOptions} options
   */
  constructor(bridge, options) {
    this.#bridge = bridge;
    this.#options = { retries: 8, minDelay: 200, maxDelay: 5000, ...options };
    // The blobs are next to the endpoint, so that the path prefix of a proxy is kept.
    this.#url = new URL("blobs", /** @type {string} */ (endpoint(options.url, false)).replace(/^ws/, "http"));
  }

  /** The URL to which blobs are sent. */
  get url() {
    return this.#url;
  }

  /** @param {unknown} reference */
  urlOf(reference) {
    return new URL(`blobs/${checked(reference).$blob}`, this.#url);
  }

  /**
   * Sends one request. Rejects if there is no response, and with a `BridgeError` for a status from 400.
   * @param {string} method
   * @param {URL} url
   * @param {{headers?: Record<string, string>, body?: Blob, signal?: AbortSignal}} [how]
   * @returns {Promise<Response>}
   */
  async send(method, url, how = {}) {
    const { headers, body, signal } = how;
    const token = this.#token ??= this.#authorize();
    const authorization = { Authorization: `Bearer ${await token}` };
    const response = await (this.#options.fetch ?? fetch)(url, { method, headers: { ...headers, ...authorization }, body, signal });
    if (response.ok) return response;
    // After a restart the server does not know the token. The next attempt gets another one.
    if (response.status === 401 && this.#token === token) this.#token = undefined;
    const text = (await response.text()).trim() || `The server responds with the status ${response.status}`;
    const retryable = response.status >= 500 || [401, 408, 409].includes(response.status);
    const code = /** @type {Record<number, number>} */ (codes)[response.status] ?? codeOf.unavailable;
    throw bridgeError(code, text, { data: { retryable, status: response.status } });
  }

  /** Gets a token from the server. After an error, the next request gets one. */
  async #authorize() {
    try {
      await this.#bridge.ready;
      return (await this.#bridge.request("blobs.authorize")).token;
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }

  /**
   * Repeats an attempt until it succeeds. Rejects if it fails too often without progress, or with an error that another attempt cannot
   * change.
   * @template Value
   * @param {AbortSignal | undefined} signal
   * @param {() => number} progress a number that grows with the progress
   * @param {() => Promise<Value>} attempt
   * @returns {Promise<Value>}
   */
  async retry(signal, progress, attempt) {
    let [failed, reached] = [0, progress()];
    while (true) {
      if (signal?.aborted) throw cancelled();
      try {
        return await attempt();
      } catch (error) {
        if (signal?.aborted) throw cancelled();
        if (/** @type {any} */ (error)?.retryable === false) throw error;
        if (progress() > reached) [failed, reached] = [0, progress()];
        const { retries, minDelay, maxDelay } = this.#options;
        if (failed++ >= retries) throw /** @type {any} */ (error)?.code === undefined ? failure("unavailable", "The server does not respond", { cause: error }) : error;
        await pause(Math.min(minDelay * 2 ** (failed - 1), maxDelay), signal);
      }
    }
  }
}

/**
 * @param {number} delay in milliseconds
 * @param {AbortSignal} [signal] ends the pause
 */
function pause(delay, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delay);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve(undefined);
    }, { once: true });
  });
}
