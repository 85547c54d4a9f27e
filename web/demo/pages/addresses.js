// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { addresses } from "../shared/addresses.js";
import { openedPage } from "../shared/opened-page.js";
import { byId, element } from "../shared/dom.js";
import { needsApp } from "../shared/frame.js";
import { explain } from "../shared/result.js";

const bridge = new Bridge();
const { params } = openedPage();

byId("addresses", HTMLElement).append(...addresses.map((address) => element("li", {},
  element("button", {
    type: "button", "aria-current": address.id === params.selected ? "true" : null,
    onclick: () => bridge.finish(address).catch((error) => (byId("error", HTMLElement).textContent = explain(error))),
  }, address.name, element("small", {}, `${address.street}, ${address.city}`)))));
needsApp(bridge);

// Presses before the listeners are set would be lost.
byId("main", HTMLElement).hidden = false;
