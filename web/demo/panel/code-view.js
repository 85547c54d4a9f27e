// @ts-check
import { element } from "../shared/dom.js";

/** @typedef {import("./exchanges.js").Exchange} Exchange */
/** @typedef {{file: string, line: number, text: string}} Excerpt lines of a file, the first of which has this number */

/** How many lines are shown before and after the one that is meant, where no empty line ends them before. */
const around = 6;

/**
 * The code behind a call: the lines of the page that made it, from the file that the browser runs, and those of the task that answers it.
 * The task's are read from the demo's own files too where a client runs it; those of Swift are in `swift.json`, which `web/demo-code` makes
 * of the sources.
 */
export class CodeView {
  /** @type {Map<string, Promise<string>>} */
  #texts = new Map();

  /** @param {() => import("../shared/sample.js").Route[]} routes what the table declares */
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
      if (site) shown.push(figure("made this call", excerpt(path(site.url), await this.#text(site.url), site.line), site.line));
      const task = await this.#task(exchange);
      if (task) shown.push(figure("is the task", task));
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
    const asked = fetch(url).then((response) => {
      if (response.ok) return response.text();
      throw new Error(`${path(url)}: ${response.status}`);
    });
    this.#texts.set(url, asked);
    asked.catch(() => this.#texts.delete(url));
    return asked;
  }
}

/**
 * The lines around one, up to the next empty ones.
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
 * @param {string} what
 * @param {Excerpt} excerpt
 * @param {number} [marked] the line that is meant; without it all are
 */
function figure(what, { file, line, text }, marked) {
  const lines = text.split("\n");
  const margin = Math.min(...lines.filter((each) => each.trim()).map((each) => each.length - each.trimStart().length));
  return element("figure", { class: "code" },
    element("figcaption", {}, element("code", {}, `${file}:${marked ?? line}`), ` ${what}`),
    element("pre", { tabindex: 0, "aria-label": `${file}, line ${marked ?? line}` },
      ...lines.map((each, place) => element(line + place === marked ? "mark" : "span", { class: "code-line", "data-line": line + place }, `${each.slice(margin)}\n`))));
}

/**
 * A file's path within what is served.
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
