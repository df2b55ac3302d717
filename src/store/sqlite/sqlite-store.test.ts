import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, test } from "vitest";

import { storeConformance } from "../../testing/store-conformance.ts";
import { sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-sqlite-"));
const clock = createClock();
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

test.for(storeConformance(() => sqliteStore({ file: freshFile(), now: clock.now }), { wait: clock.pass }))(
  "$name",
  (check) => check.run(),
);

function freshFile(): string {
  files += 1;
  return join(folder, String(files), "kitbag.db");
}

/** A clock that stands still until somebody lets time pass. */
function createClock() {
  let time = 1_000_000;
  return {
    now: () => time,
    pass(ms: number): void {
      time += ms;
    },
  };
}
