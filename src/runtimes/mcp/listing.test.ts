import { expect, test } from "vitest";

import type { McpDefinition } from "../../core/mcp-source.ts";
import { readDefinitions, type Definitions } from "./definitions.ts";
import { createListing } from "./connect-server.ts";

const agreed: McpDefinition = { name: "echo", description: "Says it again", inputSchema: { type: "object" } };
const signal = new AbortController().signal;

test("createListing() asks the server again before it says that a tool is otherwise, and not if it is the same", async () => {
  const { listing, offer, asked } = setUp([]);
  await listing.refresh();

  offer([agreed]);
  const now = await listing.findChanges(agreed, signal);
  const again = await listing.findChanges(agreed, signal);

  expect([now, again]).toEqual([[], []]);
  expect(asked()).toBe(2);
});

test("createListing() says which parts are otherwise, or that a tool is gone", async () => {
  const { listing, offer } = setUp([{ ...agreed, description: "Other", annotations: { readOnlyHint: true } }]);
  await listing.refresh();

  const changed = await listing.findChanges(agreed, signal);
  offer([]);
  await listing.refresh();
  const gone = await listing.findChanges(agreed, signal);

  expect([changed, gone]).toEqual([["description", "annotations"], ["it is gone"]]);
});

test("createListing() tells of each list but the first", async () => {
  const { listing, told } = setUp([agreed]);

  await listing.refresh();
  await listing.refresh();

  expect(told.map(({ tools }) => tools.size)).toEqual([1]);
});

function setUp(first: readonly McpDefinition[]) {
  let offered = first;
  let count = 0;
  const told: Definitions[] = [];
  const listing = createListing(
    () => {
      count += 1;
      return Promise.resolve(readDefinitions(offered));
    },
    (definitions) => told.push(definitions),
  );
  const offer = (now: readonly McpDefinition[]): void => {
    offered = now;
  };
  return { listing, told, offer, asked: () => count };
}
