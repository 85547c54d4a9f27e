// @ts-check
import { Blobs } from "../../bridge/blobs.min.js";
import { Bridge } from "../../bridge/bridge.min.js";
import { byId } from "../shared/dom.js";
import { needsApp } from "../shared/frame.js";
import { photograph } from "../shared/photo.js";
import { megabytes, ResultView } from "../shared/result.js";

const result = new ResultView();
byId("result", HTMLElement).append(result.element);

const bridge = new Bridge();
const blobs = new Blobs(bridge);
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

on("photo", () => result.run("Photo", async (report) => {
  report("photographing…");
  const { photo, ...params } = await blobs.attach({ title: "Trail mug", photo: await photograph("#product svg") }, {
    onProgress: ({ loaded, total }) => report(`sent ${megabytes(loaded)} of ${megabytes(total ?? loaded)}`),
  });
  try {
    return { ...await bridge.invoke("action://share", { ...params, photo }), photo };
  } finally {
    blobs.remove(photo).catch(() => {});
  }
}, ({ shared, channel, photo }) => (shared ? `${megabytes(photo.size)} shared by ${channel}` : "not shared")));

on("cart", () => result.run("Cart", async () => bridge.invoke("action://toast", { text: "Trail mug is in your cart" }),
  () => "1 trail mug"));

on("done", () => result.run("Close", async () => bridge.finish({ visited: true }), () => "closing"));

showColor();
// A call that finds this page open passes new parameters to it. Its address gets them, so that a reload keeps them.
bridge.addEventListener("resume", (event) => {
  const { uri } = /** @type {CustomEvent} */ (event).detail;
  if (uri === undefined) return;
  history.replaceState(history.state, "", uri);
  showColor();
});

// Presses before the listeners are set would be lost.
byId("main", HTMLElement).hidden = false;

/** Shows the mug in the color of the page's parameter. */
function showColor() {
  const color = new URLSearchParams(location.search).get("color") === "blue" ? "blue" : "cream";
  byId("product", HTMLElement).dataset.color = color;
  byId("color", HTMLElement).textContent = color;
}

/**
 * @param {string} id
 * @param {() => unknown} press
 */
function on(id, press) {
  byId(id, HTMLButtonElement).addEventListener("click", press);
}
