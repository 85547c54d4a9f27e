// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { sampleCall } from "../shared/sample.js";
import { group, row } from "./row.js";

/** @typedef {import("../shared/sample.js").Route} Route */

/** @type {Record<string, {title: string, icon: import("../shared/icons.js").IconName, technology: string}>} by scheme */
const kinds = {
  native: { title: "Native pages", icon: "note", technology: "native" },
  flutter: { title: "Flutter pages", icon: "star", technology: "flutter" },
  https: { title: "Web pages", icon: "link", technology: "web" },
  mini: { title: "Mini programs", icon: "bag", technology: "mini" },
  tp: { title: "Other apps", icon: "rocket", technology: "tp" },
  action: { title: "Tasks", icon: "clock", technology: "swift" },
  service: { title: "Services", icon: "compass", technology: "swift" },
};

/**
 * All routes of the table. Pressing a row opens the route with valid sample parameters.
 * @type {import("./pages.js").NativePage}
 */
export function directory(page, shell) {
  const result = new ResultView();
  const search = element("input", { type: "search", class: "search", placeholder: "Name, URI or purpose", "aria-label": "Search the routes" });
  const list = element("div", { class: "content" });
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    const found = shell.routes.filter((route) => isAbout(route, wanted));
    const schemes = [...new Set(found.map(scheme))];
    const groups = schemes.map((name) => group(kinds[name]?.title ?? name,
      ...found.filter((route) => scheme(route) === name).map((route) => line(route, shell, page.id, result))));
    list.replaceChildren(...groups);
    if (found.length === 0) list.append(element("p", { class: "hint" }, "No route matches."));
  };
  search.addEventListener("input", show);
  show();
  return {
    title: "All routes",
    content: [element("div", { class: "above" }, search, result.element), list],
  };
}

/** @param {Route} route */
function scheme(route) {
  return route.patterns[0].split(":", 1)[0];
}

/**
 * @param {Route} route
 * @param {string} text in lower case
 */
function isAbout({ name, title = "", purpose = "", patterns }, text) {
  return [name, title, purpose, ...patterns].some((part) => part.toLowerCase().includes(text));
}

/**
 * @param {Route} route
 * @param {import("../shell/shell.js").Shell} shell
 * @param {string} from
 * @param {ResultView} result
 */
function line(route, { bridge }, from, result) {
  const { icon, technology } = kinds[scheme(route)] ?? { icon: "note", technology: undefined };
  const title = route.title ?? route.name;
  const { uri, params } = sampleCall(route);
  return row({
    icon, technology, title, detail: route.patterns[0],
    press: () => (route.kind === "page"
      ? result.open(title, async () => bridge.open(uri, params, { from, style: shownAs(route) }), inWords)
      : result.run(title, async () => bridge.invoke(uri, params), inWords)),
  });
}

/**
 * A route of a tab must be opened as that tab.
 * @param {Route} route
 */
function shownAs({ name }) {
  return ["home", "discover", "me"].includes(name) ? "tab" : undefined;
}

/** @param {unknown} value */
function inWords(value) {
  return value === undefined || value === null ? "done" : JSON.stringify(value);
}
