import { expect, test } from "vitest";

import type { ApprovalRequest } from "../../workspace/call/approval.ts";
import { approveInTurn } from "./approve-in-turn.ts";

test("approveInTurn() asks one after the other, also when one of them throws", async () => {
  const order: string[] = [];
  const approve = approveInTurn(async ({ address }) => {
    order.push(`${address} asked`);
    await Promise.resolve();
    order.push(`${address} answered`);
    if (address === "a") throw new Error("left");
    return { decision: "approve" };
  });

  const answers = await Promise.allSettled(["a", "b"].map(async (address) => approve({ address } as ApprovalRequest)));

  expect(order).toEqual(["a asked", "a answered", "b asked", "b answered"]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});
