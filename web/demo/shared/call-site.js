// @ts-check

/** @typedef {{url: string, line: number}} Site a line of a file that the browser runs */

// The frames of the client library are above the frame of the caller.
if ("stackTraceLimit" in Error) Reflect.set(Error, "stackTraceLimit", 40);

/** The files between a page and the socket: the client library and the observer of the socket. */
const between = /\/bridge\/(?:[^/]+\/)?[^/]+\.js$|\/shared\/observed-socket\.js$/;

/**
 * Returns the line that made a call: the innermost frame of a stack outside of the client library. WebKit removes the frame of a function that
 * ends with a call, unless the function is `async`. So the demo makes its calls in `async` functions.
 * @param {string | undefined} stack the format differs between browsers; all contain `URL:LINE:COLUMN`
 * @returns {Site | undefined} none without a caller in the demo, as after the socket's own events
 */
export function callSite(stack = "") {
  for (const [, url, line] of stack.matchAll(/(https?:\/\/[^\s()]+?):(\d+):\d+/g)) {
    if (!between.test(url.replace(/[?#].*/, ""))) return { url, line: Number(line) };
  }
  return undefined;
}
