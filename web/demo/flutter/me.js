// @ts-check
import { element } from "../shared/dom.js";
import { explain } from "../shared/result.js";

/**
 * The account: the logged-in user of the session.
 * @param {import("./view.js").Page} page
 * @param {import("./view.js").Context} context
 * @returns {import("./view.js").Scaffold}
 */
export function me(page, { bridge, snack }) {
  const avatar = element("div", { class: "avatar", "aria-hidden": "true" });
  const title = element("p", { class: "name", "aria-live": "polite" });
  const about = element("p", { class: "about" });
  const button = element("button", { class: "filled", type: "button", onclick: () => change() });
  /** @type {string | null} */
  let user = null;

  const show = (/** @type {string | null} */ name) => {
    user = name;
    avatar.textContent = name?.[0] ?? "?";
    title.textContent = name ?? "Not logged in";
    about.textContent = name ? "The server keeps the login" : "Your orders need a login";
    button.textContent = name ? "Log out" : "Log in";
    button.classList.toggle("tonal", name !== null);
  };
  const showError = (/** @type {Promise<unknown>} */ call) => void call.catch((error) => snack(explain(error)));
  const loadProfile = async () => show((await bridge.invoke("action://user")).name);
  const change = () => {
    if (user === null) return showError(bridge.invoke("action://login").then(({ name }) => show(name)));
    showError(bridge.invoke("action://logout").then(() => {
      show(null);
      snack("Logged out");
    }));
  };
  const orders = () => showError(bridge.open("native://orders", {}, { from: page.id })
    .then((ended) => snack(ended.outcome === "finished" ? `Order ${ended.data.id}: ${ended.data.state}` : `Orders: ${ended.outcome}`)));
  const discover = () => showError(bridge.invoke("action://tab/1"));

  const tile = (/** @type {string} */ name, /** @type {string} */ detail, /** @type {() => void} */ press) =>
    element("button", { class: "tile", type: "button", onclick: press },
      element("span", {}, name), element("small", {}, detail));
  const body = element("main", { class: "body" }, avatar, title, about, button,
    element("div", { class: "tiles" },
      tile("My orders", "native://orders", orders),
      tile("Find a trip", "the tab native://discover", discover)));
  show(null);
  showError(loadProfile());
  return { title: "Me", body, resumed: () => showError(loadProfile()) };
}
