// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { group, row } from "./row.js";

/**
 * The calls of the rows.
 * @type {(import("../shared/result.js").Opening & Omit<Parameters<typeof row>[0], "press" | "title"> & {label?: string, params?: Record<string, unknown>})[]}
 */
const openings = [
  {
    icon: "bag", title: "Outfitters", detail: "Web page in a frame", technology: "web",
    uri: new URL("pages/shop.html", document.baseURI).href, params: { title: "Outfitters" }, show: () => "closed itself",
  },
  {
    icon: "person", title: "Profile", label: "Mira’s profile", detail: "flutter://profile/7", technology: "flutter",
    uri: "flutter://profile/7", show: (data) => `following ${data.name}`,
  },
  {
    icon: "plus", title: "Counter", detail: "flutter://counter", technology: "flutter",
    uri: "flutter://counter", params: { start: 3 }, show: (data) => `counted to ${data.count}`,
  },
  {
    icon: "note", title: "Trip notes", detail: "Walk M → A → B → C", technology: "native",
    uri: "native://walk/m", show: () => "closed",
  },
  {
    icon: "pin", title: "Address", label: "Addresses", detail: "native://address/list", technology: "native",
    uri: "native://address/list", show: (data) => `${data.name}, ${data.city}`,
  },
];

/** @type {import("./pages.js").NativePage} */
export function home(page, { bridge }, restored) {
  const result = new ResultView();
  const from = page.id;
  if (restored) result.again(bridge.pending, openings);
  const content = element("div", { class: "content" },
    element("p", { class: "hero" },
      "One app, three technologies: native, web and Flutter pages call each other and share one stack."),
    group("Open a page", ...openings.map(({ title, uri, show, params = {}, ...look }) =>
      row({ ...look, title: look.label ?? title, press: () => result.open(title, async () => bridge.open(uri, params, { from }), show) }))),
    group("Run a task",
      row({
        icon: "share", title: "Share this app", detail: "action://share", technology: "swift",
        press: () => result.run("Share",
          async () => bridge.invoke("action://share", { title: "Waybridge demo", url: location.href }),
          ({ shared, channel }) => (shared ? `shared by ${channel}` : "not shared")),
      }),
      row({
        icon: "clock", title: "Server time", detail: "action://time", technology: "swift",
        press: () => result.run("Server time", async () => bridge.invoke("action://time"), ({ serverTime }) => new Date(serverTime).toISOString()),
      })),
    result.element);
  return { title: "Waybridge", root: true, content: [content] };
}
