// @ts-check

/** Error codes of the protocol by kind. */
export const codes = {
  parseError: { code: -32700, message: "not JSON", retryable: false },
  invalidRequest: { code: -32600, message: "not a JSON-RPC 2.0 message", retryable: false },
  methodNotFound: { code: -32601, message: "no such method", retryable: false },
  invalidParams: { code: -32602, message: "invalid parameters", retryable: false },
  internal: { code: -32603, message: "internal error", retryable: false },
  sessionNotOpen: { code: -32002, message: "session not open", retryable: false },
  cancelled: { code: -32800, message: "cancelled by the caller", retryable: false },
  cancelledByServer: { code: -32802, message: "cancelled by the server", retryable: true },
  notAuthenticated: { code: 2401, message: "not authenticated", retryable: false },
  forbidden: { code: 2403, message: "forbidden", retryable: false },
  noRoute: { code: 2404, message: "no route", retryable: false },
  wrongKind: { code: 2405, message: "wrong kind of route", retryable: false },
  deadline: { code: 2408, message: "the deadline passed", retryable: true },
  conflict: { code: 2409, message: "conflict", retryable: false },
  tooLarge: { code: 2413, message: "too large", retryable: false },
  invalidParameters: { code: 2422, message: "parameters do not fit the route", retryable: false },
  refused: { code: 2423, message: "refused by an interceptor", retryable: false },
  tooMany: { code: 2429, message: "too many", retryable: true },
  hostFailed: { code: 2502, message: "the host failed or refused", retryable: false },
  unavailable: { code: 2503, message: "draining or overloaded", retryable: true },
  hostAbsent: { code: 2504, message: "host absent, gone or silent", retryable: true },
  redirectLoop: { code: 2508, message: "redirect loop", retryable: false },
  outcomeUnknown: { code: 2599, message: "outcome unknown", retryable: false },
};
