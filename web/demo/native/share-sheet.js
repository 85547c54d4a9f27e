// @ts-check
import { Blobs, isReference } from "../../bridge/blobs.min.js";
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { explain, megabytes } from "../shared/result.js";

/** @type {[string, string, import("../shared/icons.js").IconName][]} */
const channels = [
  ["messages", "Messages", "chat"],
  ["mail", "Mail", "mail"],
  ["link", "Copy link", "link"],
];

/** @type {import("./pages.js").NativePage} */
export function shareSheet(page, shell) {
  const { title, url, photo } = page.params;
  const buttons = channels.map(([channel, label, name]) => element("li", {},
    element("button", {
      class: "channel", type: "button", "data-channel": channel,
      onclick: () => shell.attempt(shell.bridge.finish({ channel }, { page: page.id })),
    }, element("span", { class: "channel-icon" }, icon(name)), label)));
  const content = element("div", { class: "content" },
    element("div", { class: "share-card" },
      element("strong", {}, String(title ?? "Something")),
      ...(isReference(photo) ? preview(photo, shell) : [element("span", {}, String(url ?? ""))])),
    element("ul", { class: "channels" }, ...buttons));
  return { title: "Share", content: [content] };
}

/**
 * A photo that the caller has sent as a blob, and its size. The place of the photo is there before its data.
 * @param {import("../../bridge/blobs.js").BlobReference} photo
 * @param {import("../shell/shell.js").Shell} shell
 */
function preview(photo, { bridge }) {
  const image = element("img", { class: "share-photo", alt: "The photo" });
  const text = element("span", {}, "Fetching the photo…");
  new Blobs(bridge).open(photo).then(async (data) => {
    image.src = URL.createObjectURL(data);
    await image.decode().finally(() => URL.revokeObjectURL(image.src));
    text.textContent = `${photo.name}, ${megabytes(photo.size)}`;
  }).catch((error) => (text.textContent = explain(error)));
  return [image, text];
}
