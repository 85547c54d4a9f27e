// @ts-check

/** The addresses of the user. */
export const addresses = [
  { id: "a1", name: "Home", street: "12 Larch Lane", city: "Bergen" },
  { id: "a2", name: "Studio", street: "Quay 4, Loft 2", city: "Bergen" },
  { id: "a3", name: "Grandmother", street: "Fjord Road 81", city: "Voss" },
];
