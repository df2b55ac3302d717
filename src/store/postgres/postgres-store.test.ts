import { test } from "vitest";

import { sharePostgres } from "../../../test/support/postgres.ts";
import { storeConformance } from "../../testing/store-conformance.ts";
import { postgresStore } from "./postgres-store.ts";

const findServer = sharePostgres();
let url = "";
let schemas = 0;

const conformance = storeConformance(() => postgresStore({ url, schema: nextSchema(), timeoutMs: 20_000 }));

test.for(conformance)("$name", async (check, context) => {
  ({ url } = await findServer(context));
  await check.run();
});

function nextSchema(): string {
  schemas += 1;
  return `test_${schemas}`;
}
