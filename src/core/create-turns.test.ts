import { expect, test } from "vitest";

import { createTurns } from "./create-turns.ts";

test("createTurns() does one after the other, also when one of them throws", async () => {
  const order: string[] = [];
  const takeTurn = createTurns();

  const done = await Promise.allSettled(
    ["a", "b"].map(async (name) =>
      takeTurn(async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        if (name === "a") throw new Error("left");
        return name;
      }),
    ),
  );

  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  expect(done.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});
