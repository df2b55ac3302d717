import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { expect, test, type TestContext } from "vitest";

import { sharePostgres } from "../support/postgres.ts";
import { shareRedis } from "../support/redis.ts";
import { createFolder } from "../support/temporary-folder.ts";
import type { CrashStore } from "./crash-store.ts";
import { startCrashProgram, type CrashProgram } from "./start-crash-program.ts";

const getPostgres = sharePostgres();
const getRedis = shareRedis();
const drivers = ["SQLite", "Postgres", "Redis"] as const;

test.for(drivers)(
  "three processes together run no more calls of a tool at once than it allows on %s",
  { timeout: 120_000 },
  async (driver, context) => {
    const store = await createStore(driver, context);
    const programs = [1, 2, 3].map(() => start(store, { places: 2, calls: 12 }));

    const outcomes = await Promise.all(programs.map((program) => program.waitFor("outcomes")));

    expect(outcomes).toEqual(Array(3).fill(`outcomes ${Array(12).fill("ok").join(" ")}`));
    expect(countAtOnce(programs)).toBe(2);
  },
);

test(
  "the place of a killed process is free again, and that of one that lives is not",
  { timeout: 120_000 },
  async (context) => {
    const store = await createStore("SQLite", context);
    const first = start(store, { places: 1, calls: 1, work: "for-ever" });
    await first.waitFor("begin");
    const second = start(store, { places: 1, calls: 1 });
    await second.waitFor("ready");
    // Longer than a place lasts whose process does nothing for it.
    await new Promise((resolve) => setTimeout(resolve, 17_000));
    const before = second.lines();

    first.signal("SIGKILL");

    expect(await second.waitFor("outcomes")).toBe("outcomes ok");
    expect(before).toEqual(["ready"]);
  },
);

interface PlacesProgram {
  readonly places: number;
  readonly calls: number;
  readonly work?: "short" | "for-ever";
}

function start(store: CrashStore, { places, calls, work = "short" }: PlacesProgram): CrashProgram {
  return startCrashProgram("use-places.ts", [JSON.stringify(store), String(places), String(calls), work]);
}

async function createStore(driver: (typeof drivers)[number], context: Pick<TestContext, "skip">): Promise<CrashStore> {
  switch (driver) {
    case "SQLite":
      return { file: join(createFolder(), "kitbag.db") };
    case "Postgres":
      return { url: (await getPostgres(context)).url, schema: `kitbag_${randomUUID().replaceAll("-", "")}` };
    case "Redis":
      return { redis: (await getRedis(context)).url };
  }
}

/** The most calls that ran at the same time, as the programs said it. */
function countAtOnce(programs: readonly CrashProgram[]): number {
  const moments = programs
    .flatMap((program) => program.lines())
    .map((line) => line.split(" ") as [what: string, at: string])
    .filter(([what]) => what === "begin" || what === "end")
    .map(([what, at]) => ({ by: what === "begin" ? 1 : -1, at: BigInt(at) }))
    .toSorted((left, right) => (left.at < right.at ? -1 : 1));
  let running = 0;
  return Math.max(...moments.map(({ by }) => (running += by)));
}
