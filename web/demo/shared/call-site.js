// @ts-check

/** @typedef {{url: string, line: number}} Site a line of a file that the browser runs */

// The client's own frames lie above the one that is looked for.
if ("stackTraceLimit" in Error) Reflect.set(Error, "stackTraceLimit", 40);

/** What stands between a page and the socket: the client, and what watches the socket. */
const between = /\/bridge\/[^/]+\.js$|\/shared\/tap\.js$/;

/**
 * The line that has made a call: the innermost frame of a stack that is not the client's.
 * @param {string | undefined} stack as browsers write it, each in its own way: all have `URL:LINE:COLUMN`
 * @returns {Site | undefined} none where nobody of the demo's is waiting, as after the socket's own events
 */
export function callSite(stack = "") {
  for (const [, url, line] of stack.matchAll(/(https?:\/\/[^\s()]+?):(\d+):\d+/g)) {
    if (!between.test(url.replace(/[?#].*/, ""))) return { url, line: Number(line) };
  }
  return undefined;
}
