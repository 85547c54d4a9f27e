// @ts-check
import { failure } from "./errors.js";

/**
 * Whether it is an object of no class; it may be one of another window.
 * @param {unknown} value
 */
export function isPlain(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * The params of a page's method are an object: what is none the server would refuse, and what JSON
 * would make an empty one of, such as a Map, would get lost.
 * @param {unknown} params
 * @param {string} method
 */
export function checkParams(params, method) {
  if (params === undefined || isPlain(params)) return;
  const isObject = typeof params === "object" && params !== null && !Array.isArray(params);
  const what = isObject ? `an object of the class ${params.constructor?.name}` : params === null ? "null" : Array.isArray(params) ? "a list" : `a ${typeof params}`;
  throw failure("invalidParams", `the params of ${method} are ${what}; give an object, each value by its name, or nothing`, { method });
}

/** A text that no other load of any page has. */
export function randomID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
