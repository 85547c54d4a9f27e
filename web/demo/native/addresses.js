// @ts-check
import { addresses as known } from "../shared/addresses.js";
import { element } from "../shared/dom.js";
import { group, row } from "./row.js";
import { summary } from "./step.js";

/**
 * Returns the selected address to the opener.
 * @type {import("./pages.js").NativePage}
 */
export function addresses(page, shell) {
  const rows = known.map((address) => row({
    icon: address.id === "a1" ? "home" : "pin",
    title: address.name,
    detail: `${address.street}, ${address.city}`,
    selected: address.id === page.params.selected,
    press: () => shell.attempt(shell.bridge.finish(address, { page: page.id })),
  }));
  const content = element("div", { class: "content" },
    group("Deliver to", ...rows),
    element("p", { class: "hint" }, "The page that opened this one receives the address. If you go back, it receives none."));
  return { title: "Addresses", content: [content] };
}

/**
 * Shows one address, and returns it to the opener.
 * @type {import("./pages.js").NativePage}
 */
export function address(page, shell) {
  const shown = known.find(({ id }) => id === page.params.id);
  if (!shown) throw Object.assign(new Error(`There is no address ${page.params.id}`), { code: 1404 });
  const content = element("div", { class: "content" },
    summary(["Street", shown.street], ["City", shown.city]),
    element("button", {
      class: "primary", type: "button",
      onclick: () => shell.attempt(shell.bridge.finish(shown, { page: page.id })),
    }, "Take this address"));
  return { title: shown.name, content: [content] };
}
