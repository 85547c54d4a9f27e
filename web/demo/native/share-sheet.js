// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/** @type {[string, string, import("../shared/icons.js").IconName][]} */
const channels = [
  ["messages", "Messages", "chat"],
  ["mail", "Mail", "mail"],
  ["link", "Copy link", "link"],
];

/** @type {import("./pages.js").NativePage} */
export function shareSheet(page, shell) {
  const { title, url } = page.params;
  const buttons = channels.map(([channel, label, name]) => element("li", {},
    element("button", {
      class: "channel", type: "button", "data-channel": channel,
      onclick: () => shell.attempt(shell.bridge.finish({ channel }, { page: page.id })),
    }, element("span", { class: "channel-icon" }, icon(name)), label)));
  const content = element("div", { class: "content" },
    element("div", { class: "share-card" },
      element("strong", {}, String(title ?? "Something")),
      element("span", {}, String(url ?? ""))),
    element("ul", { class: "channels" }, ...buttons));
  return { title: "Share", content: [content] };
}
