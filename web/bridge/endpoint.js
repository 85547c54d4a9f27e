// @ts-check
import { failure } from "./errors.js";

/** What tells how the address of an endpoint looks. */
const EXAMPLE = "give the endpoint's, such as ws://127.0.0.1:8080/bridge";

/**
 * The address of the endpoint. In a page it may be relative, and is by default `/bridge` of the page's own server.
 * @param {string | URL | null | undefined} url `null`: there is none
 * @param {boolean} optional whether there may be none where there is no page, or one that comes from no server
 */
export function endpoint(url, optional) {
  if (url === null) return undefined;
  if (url !== undefined) return socketURL(url);
  if (/^https?:/.test(base() ?? "")) return socketURL("/bridge");
  if (optional) return undefined;
  throw failure("invalidParams", `a url is needed outside of a page that comes from a server: ${EXAMPLE}`);
}

/** @param {string | URL} url */
export function socketURL(url) {
  let absolute;
  try {
    absolute = new URL(url, base());
  } catch (cause) {
    throw failure("invalidParams", `${url} is no absolute URL: ${EXAMPLE}`, { cause });
  }
  if (absolute.protocol === "http:" || absolute.protocol === "https:") absolute.protocol = absolute.protocol.replace("http", "ws");
  if (absolute.protocol !== "ws:" && absolute.protocol !== "wss:") {
    throw failure("invalidParams", `${absolute.href} is no address of a WebSocket: ws:, wss:, http: or https: is`);
  }
  return absolute.href;
}

/**
 * Where the server of an endpoint tells how it is: beside it, so that a proxy's prefix is kept.
 * @param {string} endpoint
 */
export function healthOf(endpoint) {
  return new URL("health", endpoint.replace(/^ws/, "http"));
}

/**
 * Whether a host is this machine itself, as far as its name says so.
 * @param {string} hostname as `URL` gives it
 */
export function isLoopback(hostname) {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** @returns {string | undefined} what relative addresses are relative to */
export function base() {
  return typeof location === "undefined" ? undefined : location.href;
}
