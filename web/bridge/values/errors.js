// @ts-check
import { codeOf, isApplicationCode, retryable } from "../codes.js";

/**
 * Returns the name of a code in the registry; empty if it has none.
 * @param {number} code
 */
function kindOf(code) {
  return Object.entries(codeOf).find(([, each]) => each === code)?.[0] ?? "";
}

/**
 * The error of a failed call. `code` is a number of the protocol's registry, or of the application itself (1…1999 and from 3000). `kind` is
 * its name. The server can send a more specific kind: `notOnStack` has the code 2404.
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
     * The data of the error, usually `{kind, retryable, …}`.
     * @type {any}
     */
    this.data = data;
    /** The method that was called, if the error belongs to a call. */
    this.method = method;
    const stated = this.data?.kind;
    /** @type {string} */
    this.kind = kind ?? (typeof stated === "string" ? stated : kindOf(code) || (isApplicationCode(code) ? "application" : "unknown"));
  }

  /** Whether the same call can succeed if it is repeated unchanged. */
  get retryable() {
    const stated = this.data?.retryable;
    return typeof stated === "boolean" ? stated : retryable.includes(kindOf(this.code));
  }
}

/** No route, page or pattern matches (2404). */
export class RouteNotFoundError extends BridgeError {
  /** @override */ name = "RouteNotFoundError";
}

/** The policy denies the call (2403). */
export class ForbiddenError extends BridgeError {
  /** @override */ name = "ForbiddenError";
}

/** The parameters do not match the route (2422) or the method (-32602). */
export class InvalidParametersError extends BridgeError {
  /** @override */ name = "InvalidParametersError";
}

/** The call had no response before its deadline (2408). */
export class DeadlineExceededError extends BridgeError {
  /** @override */ name = "DeadlineExceededError";
}

/** No client hosts the route, or its host left or did not respond (2504). */
export class HostAbsentError extends BridgeError {
  /** @override */ name = "HostAbsentError";
}

/**
 * It is not known whether the call took effect (2599): its session was lost, or the host's page was reloaded while it worked on the call.
 * A call with a `key` can be repeated safely.
 */
export class OutcomeUnknownError extends BridgeError {
  /** @override */ name = "OutcomeUnknownError";
}

/** The caller cancelled the call (-32800). The name is that of the platform's own abort errors. */
export class CancelledError extends BridgeError {
  /** @override */ name = "AbortError";
}

/**
 * The connection failed or closed; the kind is `closed`. `data.code` and `data.reason` are those of the WebSocket's close event. The code of
 * the error is 2503 if the call was not sent, and 2599 if it was sent and may have taken effect.
 */
export class ConnectionClosedError extends BridgeError {
  /** @override */ name = "ConnectionClosedError";
}

/**
 * There is no bridge: no server could be reached, or the page runs outside of the app. The kind is `noBridge`. The call was not sent.
 */
export class BridgeAbsentError extends BridgeError {
  /** @override */ name = "BridgeAbsentError";
}

/**
 * The server is reachable and rejects this page; the kind is `refused`. The message says how to allow the page. `data.origin` is the rejected
 * origin.
 */
export class BridgeRejectedError extends BridgeError {
  /** @override */ name = "BridgeRejectedError";

  /**
   * @param {string} message
   * @param {string} origin
   */
  constructor(message, origin) {
    super(codeOf.forbidden, message, { data: { kind: "refused", retryable: false, origin } });
  }
}

/**
 * Returns the error of a call that has no connection.
 * @param {{code: number, reason: string, cause?: unknown, absent?: boolean}} close
 * @param {boolean} sent
 * @param {string} [method]
 */
export function closedError({ code, reason, cause, absent = false }, sent, method) {
  const [what, kind, Class] = absent ? ["There is no bridge", "noBridge", BridgeAbsentError] : ["The connection is closed", "closed", ConnectionClosedError];
  const doubt = sent && !globalThis.__waybridgeBrief ? "; the outcome of the call is unknown" : "";
  const data = { kind, retryable: !sent && !absent, code, reason };
  const how = reason === "" ? code : `${code}: ${reason}`;
  return new Class(sent ? codeOf.outcomeUnknown : codeOf.unavailable, `${what} (${how})${doubt}`, { data, method, cause });
}

/** @type {Record<string, typeof BridgeError>} */
const classes = {
  noRoute: RouteNotFoundError,
  forbidden: ForbiddenError,
  invalidParameters: InvalidParametersError,
  invalidParams: InvalidParametersError,
  deadline: DeadlineExceededError,
  hostAbsent: HostAbsentError,
  cancelled: CancelledError,
  outcomeUnknown: OutcomeUnknownError,
};

/**
 * Creates the error of the class for a code.
 * @param {number} code
 * @param {string} message
 * @param {{kind?: string, data?: unknown, method?: string, cause?: unknown}} [details]
 */
export function bridgeError(code, message, details) {
  return new (classes[kindOf(code)] ?? BridgeError)(code, message, details);
}

/**
 * Thrown by a host's `open` or by a task to leave the call to the next matching host, as if this one did not exist. The handler must not have
 * had any effect before it throws this.
 */
export class DeclinedError extends BridgeError {
  /** @override */ name = "DeclinedError";

  /** @param {string} [message] for logs and developers */
  constructor(message = "The host declined") {
    super(codeOf.noRoute, message, { data: { kind: "declined", retryable: false } });
  }
}

/**
 * Converts an error of a host's handler to the error that is sent. Codes of the application and `DeclinedError` are kept; every other error
 * becomes 2502.
 * @param {unknown} thrown
 */
export function hostFailure(thrown) {
  if (thrown instanceof DeclinedError) return thrown;
  const { message: stated, code, data } = /** @type {any} */ (thrown ?? {});
  const message = [stated, thrown].find((each) => typeof each === "string" && each !== "") ?? "the host failed or refused";
  if (isApplicationCode(code)) return bridgeError(code, message, { data, cause: thrown });
  return failure("hostFailed", message, { cause: thrown });
}

/**
 * Runs a handler of the application and converts its errors to those of a host.
 * @param {AbortSignal} signal aborted when the caller has cancelled
 * @param {() => unknown} body
 */
export async function runHandler(signal, body) {
  try {
    return await body();
  } catch (error) {
    throw signal.aborted ? cancelled() : hostFailure(error);
  }
}

/**
 * Creates an error of this client, with `data` as the protocol defines it.
 * @param {keyof typeof codeOf} kind
 * @param {string} message
 * @param {{method?: string, cause?: unknown}} [details]
 */
export function failure(kind, message, details) {
  return bridgeError(codeOf[kind], message, { data: { kind, retryable: retryable.includes(kind) }, ...details });
}

/** @param {string} method */
export function methodNotFound(method) {
  return failure("methodNotFound", globalThis.__waybridgeBrief ? "No such method" : `This client has no method "${method}"`);
}

/** Creates the error of a cancelled call. */
export function cancelled() {
  return failure("cancelled", "cancelled by the caller");
}

/** @param {unknown} error */
export function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the result of a function, or `undefined` if it throws.
 * @template Value
 * @param {() => Value} body
 * @returns {Value | undefined}
 */
export function attempt(body) {
  try {
    return body();
  } catch {
    return undefined;
  }
}
