// @ts-check
import { failure } from "./errors.js";

/**
 * The address of the endpoint. In a page it may be relative, and is by default `/bridge` of the page's own server.
 * @param {string | URL | null | undefined} url `null`: there is none
 * @param {boolean} optional whether there may be none outside of a page
 */
export function endpoint(url, optional) {
  if (url === null || (url === undefined && base() === undefined && optional)) return undefined;
  return socketURL(url ?? "/bridge", url === undefined ? "a url is needed outside of a page" : `${url} is no absolute URL`);
}

/**
 * @param {string | URL} url
 * @param {string} [wrong] what is, when it is none
 */
export function socketURL(url, wrong = `${url} is no absolute URL`) {
  let absolute;
  try {
    absolute = new URL(url, base());
  } catch (cause) {
    throw failure("invalidParams", `${wrong}: give the endpoint's, such as ws://127.0.0.1:8080/bridge`, { cause });
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
