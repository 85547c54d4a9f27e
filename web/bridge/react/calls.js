// @ts-check
import { afterCommit, Store } from "./store.js";
import { cancelled, failure, textOf } from "../values/errors.js";

/** @typedef {import("../types/hooks.js").CallStatus} CallStatus */
/** @typedef {import("../types/api.js").CallOptions} CallOptions */
/** @typedef {{abort: AbortController, isSent: boolean}} RunningCall */

const NONE = { result: undefined, error: undefined, progress: undefined };
/** @type {CallStatus} */
const IDLE = { status: "idle", ...NONE };
/** @type {CallStatus} */
const PENDING = { status: "pending", ...NONE };

/** The calls of one component, and the state of the latest one. */
export class Calls {
  /** @type {Set<RunningCall>} */ #running = new Set();
  /** @type {RunningCall | undefined} */ #latest;
  /** Whether effects of the component have ended and not begun again. */
  #isUnmounted = false;

  /** @param {boolean} isPending whether the component makes its first call when it is mounted */
  constructor(isPending) {
    /** The state in the first render. */
    this.initial = isPending ? PENDING : IDLE;
    this.state = new Store(this.initial);
  }

  /**
   * @param {(options: CallOptions) => Promise<any>} send
   * @param {CallOptions} [options] of the app
   */
  run(send, options = {}) {
    const call = { abort: new AbortController(), isSent: false };
    this.#running.add(call);
    this.#latest = call;
    this.state.set(PENDING);
    const result = this.#send(call, send, options);
    // A component that does not await it has the error in its state.
    result.catch(() => {});
    return result;
  }

  cancel = () => {
    for (const { abort } of this.#running) abort.abort(cancelled());
  };

  reset = () => {
    this.#latest = undefined;
    this.state.set(IDLE);
  };

  /**
   * Called when the component is mounted, and in StrictMode a second time.
   * @param {() => boolean} isCancelled whether the calls are cancelled when the component is unmounted
   */
  mounted(isCancelled) {
    // The effects of the component run again, and make again the calls that they have just made.
    if (this.#isUnmounted) for (const { abort, isSent } of this.#running) if (!isSent) abort.abort(cancelled());
    this.#isUnmounted = false;
    return () => {
      this.#isUnmounted = true;
      afterCommit(() => {
        if (this.#isUnmounted && isCancelled()) this.cancel();
      });
    };
  }

  /**
   * @param {RunningCall} call
   * @param {(options: CallOptions) => Promise<any>} send
   * @param {CallOptions} options
   */
  async #send(call, send, { signal, onProgress, ...options }) {
    const { abort } = call;
    const aborted = () => abort.abort(signal?.reason);
    signal?.addEventListener("abort", aborted);
    if (signal?.aborted) aborted();
    /** @type {any} */
    let progress;
    try {
      // StrictMode may run the effect again that makes this call.
      await new Promise((resolve) => afterCommit(() => resolve(undefined)));
      if (abort.signal.aborted) throw abort.signal.reason;
      call.isSent = true;
      const receive = (/** @type {any} */ value) => {
        progress = value;
        this.#update(call, { ...PENDING, progress });
        onProgress?.(value);
      };
      const result = await send({ ...options, signal: abort.signal, onProgress: receive });
      this.#update(call, { status: "success", ...NONE, result, progress });
      return result;
    } catch (thrown) {
      const error = typed(thrown);
      this.#update(call, { status: error.name === "AbortError" ? "cancelled" : "error", ...NONE, error, progress });
      throw error;
    } finally {
      signal?.removeEventListener("abort", aborted);
      this.#running.delete(call);
    }
  }

  /**
   * @param {RunningCall} call
   * @param {any} state
   */
  #update(call, state) {
    if (call === this.#latest) this.state.set(state);
  }
}

/**
 * Returns the error itself, or one of a cancelled call for the reason of a signal. A class of another file of the client has the same members.
 * @param {any} thrown
 * @returns {import("../values/errors.js").BridgeError}
 */
function typed(thrown) {
  return typeof thrown?.kind === "string" ? thrown : failure("cancelled", textOf(thrown), { cause: thrown });
}
