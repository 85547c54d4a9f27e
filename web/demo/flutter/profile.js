// @ts-check
import { element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { explain } from "../shared/result.js";

/** @type {Record<string, {name: string, craft: string, town: string, workshop?: string}>} */
const people = Object.assign(Object.create(null), {
  7: { name: "Mira Holm", craft: "Enameller and weekend climber", town: "Voss", workshop: "a2" },
  8: { name: "Jonas Lie", craft: "Saddler", town: "Odda" },
});

/**
 * Gives `{id, name, followed}` to the page that opened it.
 * @param {import("./view.js").Page} page
 * @param {import("./view.js").Context} context
 * @returns {import("./view.js").Scaffold}
 */
export function profile(page, { bridge, snack, pop }) {
  const id = String(page.params.id);
  const { name, craft, town, workshop } = people[id] ?? { name: `Guest ${id}`, craft: "New here", town: "Nowhere yet" };
  const showResult = (/** @type {Promise<string>} */ call) => void call.then(snack, (error) => snack(explain(error)));

  const share = () => showResult(bridge.invoke("action://share", { title: name, url: page.uri })
    .then(({ shared, channel }) => (shared ? `Shared by ${channel}` : "Not shared")));
  const meet = (/** @type {string} */ uri) => () => showResult(bridge.open(uri, {}, { from: page.id })
    .then((ended) => (ended.outcome === "finished" ? `Meeting at ${ended.data.name}` : `Address: ${ended.outcome}`)));
  const colleague = () => showResult(bridge.open("flutter://profile/8", {}, { from: page.id })
    .then((ended) => (ended.outcome === "finished" ? `Following ${ended.data.name}` : `Profile: ${ended.outcome}`)));

  const tile = (/** @type {string} */ title, /** @type {string} */ detail, /** @type {() => void} */ press) =>
    element("button", { class: "tile", type: "button", onclick: press },
      element("span", {}, title), element("small", {}, detail));
  const body = element("main", { class: "body" },
    element("div", { class: "avatar", "aria-hidden": "true" }, name[0] ?? "?"),
    element("p", { class: "name" }, name),
    element("p", { class: "about" }, `${craft} · ${town}`),
    element("div", { class: "tiles" },
      tile("Share profile", "action://share", share),
      tile("Meet somewhere", "native://address/list", meet("native://address/list")),
      workshop && tile("Meet at the workshop", `native://address/${workshop}`, meet(`native://address/${workshop}`)),
      id === "7" && tile("Works with Jonas Lie", "flutter://profile/8", colleague)),
    element("button", {
      class: "fab extended", type: "button", onclick: () => pop({ id, name, followed: true }),
    }, icon("plus"), "Follow"));
  return { title: "Profile", body };
}
