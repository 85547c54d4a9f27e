// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { group, row } from "./row.js";

/** @type {import("./pages.js").NativePage} */
export function home(page, { bridge }) {
  const result = new ResultView();
  const from = page.id;
  const shop = new URL("pages/shop.html", document.baseURI).href;
  const content = element("div", { class: "content" },
    element("p", { class: "hero" },
      "One app, three technologies. Each page here is drawn by a client of its own, and all share one stack."),
    group("Open a page",
      row({
        icon: "bag", title: "Outfitters", detail: "Web page in a frame", technology: "web",
        press: () => result.open("Outfitters", () => bridge.open(shop, { title: "Outfitters" }, { from }),
          () => "closed itself"),
      }),
      row({
        icon: "person", title: "Mira’s profile", detail: "flutter://profile/7", technology: "flutter",
        press: () => result.open("Profile", () => bridge.open("flutter://profile/7", {}, { from }),
          (data) => `following ${data.name}`),
      }),
      row({
        icon: "plus", title: "Counter", detail: "flutter://counter", technology: "flutter",
        press: () => result.open("Counter", () => bridge.open("flutter://counter", { start: 3 }, { from }),
          (data) => `counted to ${data.count}`),
      }),
      row({
        icon: "note", title: "Trip notes", detail: "Walk M → A → B → C", technology: "native",
        press: () => result.open("Trip notes", () => bridge.open("native://walk/m", {}, { from }), () => "closed"),
      }),
      row({
        icon: "pin", title: "Addresses", detail: "native://address/list", technology: "native",
        press: () => result.open("Address", () => bridge.open("native://address/list", {}, { from }),
          (data) => `${data.name}, ${data.city}`),
      })),
    group("Run a task",
      row({
        icon: "share", title: "Share this app", detail: "action://share", technology: "swift",
        press: () => result.run("Share",
          () => bridge.invoke("action://share", { title: "Waybridge demo", url: location.href }),
          ({ shared, channel }) => (shared ? `shared by ${channel}` : "not shared")),
      }),
      row({
        icon: "clock", title: "Server time", detail: "action://time", technology: "swift",
        press: () => result.run("Server time", () => bridge.invoke("action://time"), ({ serverTime }) => new Date(serverTime).toISOString()),
      })),
    result.element);
  return { title: "Waybridge", root: true, content: [content] };
}
