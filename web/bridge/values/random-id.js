// @ts-check

/** Returns an id that no other load of a page has: 48 random bits as 12 digits. */
export function randomID() {
  return Math.random().toString(16).slice(2, 14).padEnd(12, "0");
}
