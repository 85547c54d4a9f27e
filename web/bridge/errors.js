// @ts-check
import { codeOf, isApplicationCode, retryable } from "./codes.js";

/**
 * What the registry calls a code.
 * @param {number} code
 */
function kindOf(code) {
  return Object.keys(codeOf).find((kind) => Reflect.get(codeOf, kind) === code);
}

/**
 * Why a call failed. `code` is the number of the protocol's registry (or the application's own: 1…1999 and from 3000),
 * `kind` its name, made finer by the server where it can be (`notOnStack` is a 2404).
 */
export class BridgeError extends Error {
  /** @override */ name = "BridgeError";

  /**
   * @param {number} code
   * @param {string} message
   * @param {{kind?: string, data?: unknown, method?: string, cause?: unknown}} details
   */
  constructor(code, message, { kind, data, method, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    /**
     * What came with the error; mostly `{kind, retryable, …}`.
     * @type {any}
     */
    this.data = data;
    /** The method that was called, where there was one. */
    this.method = method;
    const stated = this.data?.kind;
    /** @type {string} */
    this.kind = kind ?? (typeof stated === "string" ? stated : kindOf(code) ?? (isApplicationCode(code) ? "application" : "unknown"));
  }

  /** Whether the same call may succeed when it is made again unchanged. */
  get retryable() {
    const stated = this.data?.retryable;
    return typeof stated === "boolean" ? stated : retryable.includes(kindOf(this.code) ?? "");
  }
}

/** No route, page or pattern fits (2404). */
export class RouteNotFound extends BridgeError {
  /** @override */ name = "RouteNotFound";
}

/** The policy does not allow the call (2403). */
export class Forbidden extends BridgeError {
  /** @override */ name = "Forbidden";
}

/** The parameters do not fit the route (2422) or the method (-32602). */
export class InvalidParameters extends BridgeError {
  /** @override */ name = "InvalidParameters";
}

/** The call's deadline passed before it was answered (2408). */
export class DeadlineExceeded extends BridgeError {
  /** @override */ name = "DeadlineExceeded";
}

/** No client shows or runs the route, or it went away or fell silent (2504). */
export class HostAbsent extends BridgeError {
  /** @override */ name = "HostAbsent";
}

/**
 * Whether the call was carried out can not be known (2599): the session was lost in which it was made, or a host's page was loaded
 * again while it worked on it. What has a `key` can be asked again.
 */
export class OutcomeUnknown extends BridgeError {
  /** @override */ name = "OutcomeUnknown";
}

/** The caller cancelled the call (-32800). It is named as the platform's own aborts are. */
export class Cancelled extends BridgeError {
  /** @override */ name = "AbortError";
}

/**
 * The connection failed or ended, kind `closed`. `data.code` and `data.reason` are those of the WebSocket's close. The
 * error's own code is 2503 for what was never sent, and 2599 for a call that was: it may have been carried out.
 */
export class ConnectionClosed extends BridgeError {
  /** @override */ name = "ConnectionClosed";
}

/**
 * There is no bridge: none could be reached, or the page runs outside of the app. Its kind is `noBridge`; nothing was sent.
 */
export class BridgeAbsent extends BridgeError {
  /** @override */ name = "BridgeAbsent";
}

/**
 * The server is there, and does not let this page in; its kind is `refused`. The message says what would let it in, `data.origin`
 * whose pages are refused.
 */
export class BridgeRefused extends BridgeError {
  /** @override */ name = "BridgeRefused";

  /**
   * @param {string} message
   * @param {string} origin
   */
  constructor(message, origin) {
    super(codeOf.forbidden, message, { data: { kind: "refused", retryable: false, origin } });
  }
}

/**
 * What a call rejects with when there is no connection for it.
 * @param {{code: number, reason: string, cause?: unknown, absent?: boolean}} close
 * @param {boolean} sent
 * @param {string} [method]
 */
export function closedError({ code, reason, cause, absent = false }, sent, method) {
  const [what, kind, Class] = absent ? ["there is no bridge", "noBridge", BridgeAbsent] : ["the connection is closed", "closed", ConnectionClosed];
  const doubt = sent ? "; the outcome of the call is unknown" : "";
  const data = { kind, retryable: !sent && !absent, code, reason };
  const how = reason === "" ? code : `${code}: ${reason}`;
  return new Class(sent ? codeOf.outcomeUnknown : codeOf.unavailable, `${what} (${how})${doubt}`, { data, method, cause });
}

/** @type {Record<string, typeof BridgeError>} */
const classes = {
  noRoute: RouteNotFound,
  forbidden: Forbidden,
  invalidParameters: InvalidParameters,
  invalidParams: InvalidParameters,
  deadline: DeadlineExceeded,
  hostAbsent: HostAbsent,
  cancelled: Cancelled,
  outcomeUnknown: OutcomeUnknown,
};

/**
 * The typed error for a code.
 * @param {number} code
 * @param {string} message
 * @param {{kind?: string, data?: unknown, method?: string, cause?: unknown}} [details]
 */
export function bridgeError(code, message, details) {
  return new (classes[kindOf(code) ?? ""] ?? BridgeError)(code, message, details);
}

/**
 * Thrown by a host's `open`, or by a task, that leaves the call to the next that matches, as if it were not there. It must
 * not have had an effect by then.
 */
export class Declined extends BridgeError {
  /** @override */ name = "Declined";

  /** @param {string} [message] for people */
  constructor(message = "the host declined") {
    super(codeOf.noRoute, message, { data: { kind: "declined", retryable: false } });
  }
}

/**
 * What a host's handler threw, as the wire has it: the application's codes pass, everything else is 2502. That a page or a
 * task was declined passes too.
 * @param {unknown} thrown
 */
export function hostFailure(thrown) {
  if (thrown instanceof Declined) return thrown;
  const { message: stated, code, data } = /** @type {any} */ (thrown ?? {});
  const message = [stated, thrown].find((each) => typeof each === "string" && each !== "") ?? "the host failed or refused";
  if (isApplicationCode(code)) return bridgeError(code, message, { data, cause: thrown });
  return failure("hostFailed", message, { cause: thrown });
}

/**
 * An error of this side's own making, its `data` as the protocol has it.
 * @param {keyof typeof codeOf} kind
 * @param {string} message
 * @param {{method?: string, cause?: unknown}} [details]
 */
export function failure(kind, message, details) {
  return bridgeError(codeOf[kind], message, { data: { kind, retryable: retryable.includes(kind) }, ...details });
}

/** What ends what its caller no longer wants. */
export function cancelled() {
  return failure("cancelled", "cancelled by the caller");
}

/** @param {unknown} error */
export function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}
