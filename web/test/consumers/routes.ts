// The output of `waybridge routes generate --language typescript` for a small table, written by hand.
export const table = { version: "1.4.0", hash: "0123456789abcdef" } as const;

export interface Address {
  id: string;
  street?: string;
}

export interface Routes {
  pages: {
    "native://address/:id": {
      params: { id: string; zoom?: number };
      result: Address;
      methods: { scroll: { params: { to: string }; result: string } };
    };
    "native://cart": {
      params: {};
      result: null;
      methods: { refresh: { params: {}; result: { count: number } } };
    };
    "native://file/*": { params: { "*": string[] | string }; result: boolean };
  };
  tasks: {
    "action://share": { params: { title: string; url?: string }; result: { shared: boolean } };
    "service://now": { params: {}; result: number };
  };
  topics: { "cart.changed": { count: number } };
}

export const routes = {
  address: "native://address/:id",
  cart: "native://cart",
  file: "native://file/*",
  share: "action://share",
  now: "service://now",
} as const;
