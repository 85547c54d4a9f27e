// @ts-check
import { Bridge } from "../../bridge/bridge.js";
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

on("share", () => result.run("Share",
  () => bridge.invoke("action://share", { title: "Trail mug", url: location.href }),
  ({ shared, channel }) => (shared ? `shared by ${channel}` : "not shared")));

on("address", () => result.open("Address",
  () => bridge.open("native://address/list", selected ? { selected } : {}),
  (address) => {
    selected = address.id;
    return `${address.name}, ${address.street}, ${address.city}`;
  }));

on("maker", () => result.open("Maker", () => bridge.open("flutter://profile/7"),
  ({ name }) => `you follow ${name}`));

on("review", () => result.open("Review", () => bridge.open(reviewPage, { title: "Your review" }),
  ({ stars, text }) => `${"★".repeat(stars)} ${text}`));

on("walk", () => result.open("Trip notes", () => bridge.open("native://walk/m"), () => "closed"));

on("elsewhere", () => result.open("Elsewhere", () => bridge.open("http://elsewhere.invalid/"), () => "closed"));

on("cart", () => result.run("Cart", () => bridge.invoke("action://toast", { text: "Trail mug is in your cart" }),
  () => "1 trail mug"));

on("done", () => result.run("Close", () => bridge.finish({ visited: true }), () => "closing"));

// What is pressed before anybody listens would be lost.
byId("main", HTMLElement).hidden = false;

/**
 * @param {string} id
 * @param {() => unknown} press
 */
function on(id, press) {
  byId(id, HTMLButtonElement).addEventListener("click", press);
}
