// @ts-check

/**
 * Whether it is an object of no class; it may be one of another window.
 * @param {unknown} value
 */
export function isPlain(value) {
  // What is no object has a class that is made of another.
  const prototype = Object.getPrototypeOf(value ?? 0);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A text that no other load of any page has. */
export function randomID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
