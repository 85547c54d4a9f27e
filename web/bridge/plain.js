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

/** A text that no other load of any page has: 48 random bits in 12 digits. */
export function randomID() {
  return Math.random().toString(16).slice(2, 14).padEnd(12, "0");
}
