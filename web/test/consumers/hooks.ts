// Components of a project that uses the hooks with its routes. The compiler checks each line.
import { BridgeError } from "waybridge";
import { Caller } from "waybridge/caller";
import { mockBridge } from "waybridge/mock";
import { BridgeProvider, createHooks, useEvent, useInvoke, useResult, useSession } from "waybridge/react";
import type { CallState, Page, SessionState } from "waybridge/react";
import { routes } from "./routes.js";
import type { Address, Routes } from "./routes.js";

export const hooks = createHooks<Routes>();

export function Typed(): unknown[] {
  const address = hooks.useOpen(routes.address, { style: "present", cancelOnUnmount: true });
  const ended: Promise<unknown> = address.run({ id: "a2", zoom: 2 }, { timeout: 5000 });
  const chosen: Address | null = address.status === "success" && address.result.outcome === "finished" ? address.result.data : null;
  const share = hooks.useInvoke(routes.share);
  const error: BridgeError | undefined = share.error;
  const isShared: boolean | undefined = share.result?.shared;
  const now = hooks.useResult(routes.now);
  const seconds: number = now.status === "success" ? now.result : 0;
  const sharing = hooks.useResult(routes.share, { title: "Tea" }, { enabled: false });
  const again: Promise<{ shared: boolean }> = sharing.run();
  const scroll = hooks.useCall("p1", "scroll");
  const place: string | undefined = scroll.status === "success" ? scroll.result : undefined;
  void scroll.run({ to: "end" });
  hooks.useEvent("cart.changed", ({ data }) => data.count.toFixed());
  hooks.useEvent(["cart.changed", "page.closed"], ({ topic }) => topic);
  const count: number | undefined = hooks.useLatestEvent("cart.changed")?.data.count;
  const page = hooks.usePage<typeof routes.address>();
  const zoom: number | undefined = page.params.zoom;
  void page.finish({ id: "a2" });
  const pages: Page[] = hooks.useHost("native", { open: async (opened) => opened.id, methods: { badge: ({ n }) => n } });
  const state: SessionState = hooks.useSession();
  return [ended, chosen, error, isShared, seconds, again, place, count, zoom, pages, state.session?.page, hooks.useBridge().open(routes.cart)];
}

// Without the types of routes everything is as loose as JavaScript.
export function Loose(): unknown[] {
  const buy: CallState = useInvoke("action://buy/:id");
  useEvent("any.topic", ({ data }) => data.anything);
  return [buy.run({ id: 1 }, { key: "k" }), buy.progress?.part, useResult("service://any", { x: 1 }).result?.length, useSession().state];
}

export const provided = [
  BridgeProvider({ client: mockBridge<Routes>(), children: null }), BridgeProvider({ client: new Caller<Routes>({ url: null }) }),
];
