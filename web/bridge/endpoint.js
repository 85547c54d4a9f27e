// @ts-check
import { failure } from "./errors.js";

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
  throw invalid(globalThis.__waybridgeBrief ? "a url is needed" : "a url is needed outside of a page that comes from a server");
}

/** @param {string | URL} url */
export function socketURL(url) {
  try {
    const address = new URL(url, base()).href.replace(/^http/, "ws");
    if (/^wss?:/.test(address)) return address;
  } catch {
    // Then it is none.
  }
  throw invalid(`${url} is no address of a WebSocket`);
}

/** @param {string} what */
function invalid(what) {
  return failure("invalidParams", globalThis.__waybridgeBrief ? what : `${what}: give the endpoint's, such as ws://127.0.0.1:8080/bridge`);
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
