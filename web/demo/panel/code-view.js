// @ts-check
import { element } from "../shared/dom.js";

/** @typedef {import("./exchanges.js").Exchange} Exchange */
/** @typedef {{file: string, line: number, text: string}} Excerpt lines of a file, the first of which has this number */

/** How many lines are shown before and after the marked line, if no empty line ends them before. */
const around = 4;

/**
 * The code behind a call: the lines that made it, from the file that the browser runs, and the lines of its handler. Each excerpt has one
 * marked line. The code of a handler in a client comes from the files of the demo; the code of a handler in Swift from `swift.json`, which
 * `web/demo-code` makes from the sources.
 */
export class CodeView {
  /** @type {Map<string, Promise<string>>} */
  #texts = new Map();

  /** @param {() => import("../shared/sample.js").Route[]} routes the routes that the table declares */
  constructor(routes) {
    this.routes = routes;
  }

  /**
   * @param {Exchange} exchange
   * @returns {Promise<HTMLElement[]>}
   */
  behind = async (exchange) => {
    const shown = [];
    try {
      const { site } = exchange;
      if (site) shown.push(figure("makes the call", excerpt(path(site.url), await this.#text(site.url), site.line), site.line));
      const task = await this.#task(exchange);
      if (task) shown.push(figure("handles the call", task, mainLine(task)));
    } catch (error) {
      shown.push(element("p", { class: "error" }, `The code could not be loaded: ${error instanceof Error ? error.message : error}`));
    }
    return shown;
  };

  /**
   * @param {Exchange} exchange
   * @returns {Promise<Excerpt | undefined>}
   */
  async #task({ title, uri, task, to }) {
    if (task !== undefined) {
      const url = new URL("shell/shell.js", document.baseURI).href;
      const text = await this.#text(url);
      const place = text.split("\n").findIndex((line) => line.includes(`task("${task}"`));
      return place < 0 ? undefined : { file: path(url), line: place + 1, text: text.split("\n")[place] };
    }
    if (title !== "router.invoke" || to !== "swift" || uri === undefined) return undefined;
    const route = this.routes().find(({ kind, patterns }) => kind !== "page" && patterns.some((/** @type {string} */ pattern) => fits(pattern, uri)));
    const tasks = JSON.parse(await this.#text(new URL("swift.json", document.baseURI).href));
    return tasks[uri] ?? tasks[route?.name];
  }

  /** @param {string} url */
  #text(url) {
    const known = this.#texts.get(url);
    if (known) return known;
    const request = fetch(url).then((response) => {
      if (response.ok) return response.text();
      throw new Error(`${path(url)}: ${response.status}`);
    });
    this.#texts.set(url, request);
    request.catch(() => this.#texts.delete(url));
    return request;
  }
}

/**
 * Returns the lines around a line, up to the next empty ones.
 * @param {string} file
 * @param {string} text
 * @param {number} line counted from 1
 * @returns {Excerpt}
 */
export function excerpt(file, text, line) {
  const lines = text.split("\n");
  let first = line - 1;
  let last = line - 1;
  while (first > 0 && line - 1 - first < around && lines[first - 1]?.trim()) first -= 1;
  while (last < lines.length - 1 && last - line + 1 < around && lines[last + 1]?.trim()) last += 1;
  return { file, line: first + 1, text: lines.slice(first, last + 1).join("\n") };
}

/**
 * Returns the number of the line that declares the function of a handler, or binds the handler to its route.
 * @param {Excerpt} excerpt
 */
function mainLine({ line, text }) {
  const place = text.split("\n").findIndex((each) => /\bfunc \w+\(|\brouter\.\w+\(|\btask\(/.test(each));
  return line + Math.max(0, place);
}

/**
 * @param {string} what what the code does for the call
 * @param {Excerpt} excerpt
 * @param {number} marked the number of the line that matters
 */
function figure(what, { file, line, text }, marked) {
  const lines = text.split("\n");
  const margin = Math.min(...lines.filter((each) => each.trim()).map((each) => each.length - each.trimStart().length));
  return element("figure", { class: "code" },
    element("figcaption", {}, element("code", {}, `${file}:${marked}`), ` ${what}`),
    element("pre", { tabindex: 0, "aria-label": `${file}, line ${marked}` },
      ...lines.map((each, place) => element(line + place === marked ? "mark" : "span", { class: "code-line", "data-line": line + place }, `${each.slice(margin)}\n`))));
}

/**
 * Returns the path of a file in the repository.
 * @param {string} url
 */
function path(url) {
  return decodeURIComponent(new URL(url).pathname).replace(/^.*\/demo\//, "web/demo/");
}

/**
 * @param {string} pattern
 * @param {string} uri
 */
function fits(pattern, uri) {
  const parts = pattern.split(/:\w+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // The colon of the scheme begins no name: a slash follows it.
  return new RegExp(`^${parts.join("[^/?#]+")}$`).test(uri.replace(/[?#].*/, ""));
}
