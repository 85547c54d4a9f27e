// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { byId } from "../shared/dom.js";
import { needsApp } from "../shared/frame.js";
import { ResultView } from "../shared/result.js";

const result = new ResultView();
byId("result", HTMLElement).append(result.element);

const bridge = new Bridge();
needsApp(bridge);

/** @type {string | undefined} */
let selected;
const reviewPage = new URL("review.html", document.baseURI).href;

/**
 * The calls of the buttons.
 * @type {(import("../shared/result.js").Opening & {id: string, params?: () => object})[]}
 */
const openings = [
  {
    id: "address", title: "Address", uri: "native://address/list",
    params: () => (selected ? { selected } : {}),
    show: (address) => {
      selected = address.id;
      return `${address.name}, ${address.street}, ${address.city}`;
    },
  },
  { id: "maker", title: "Maker", uri: "flutter://profile/7", show: ({ name }) => `you follow ${name}` },
  {
    id: "review", title: "Review", uri: reviewPage,
    params: () => ({ title: "Your review" }),
    show: ({ stars, text }) => `${"★".repeat(stars)} ${text}`,
  },
  { id: "walk", title: "Trip notes", uri: "native://walk/m", show: () => "closed" },
  { id: "elsewhere", title: "Elsewhere", uri: "http://elsewhere.invalid/", show: () => "closed" },
];

for (const { id, title, uri, params, show } of openings) {
  on(id, () => result.open(title, async () => bridge.open(uri, { ...params?.() }), show));
}

bridge.ready.then(() => result.again(bridge.pending, openings), () => {});

on("share", () => result.run("Share",
  async () => bridge.invoke("action://share", { title: "Trail mug", url: location.href }),
  ({ shared, channel }) => (shared ? `shared by ${channel}` : "not shared")));

on("cart", () => result.run("Cart", async () => bridge.invoke("action://toast", { text: "Trail mug is in your cart" }),
  () => "1 trail mug"));

on("done", () => result.run("Close", async () => bridge.finish({ visited: true }), () => "closing"));

// Presses before the listeners are set would be lost.
byId("main", HTMLElement).hidden = false;

/**
 * @param {string} id
 * @param {() => unknown} press
 */
function on(id, press) {
  byId(id, HTMLButtonElement).addEventListener("click", press);
}
