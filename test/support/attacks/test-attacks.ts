import { afterAll, describe, expect, test } from "vitest";

import { needProgram } from "../need-program.ts";
import { attacks } from "./all-attacks.ts";
import { corners, openArena, programOf, type Arena } from "./arena.ts";
import { runAttack } from "./run-attack.ts";

/** Runs all attacks of a theme in every sandbox and in every way to start. */
export function testAttacks(theme: keyof typeof attacks): void {
  for (const corner of corners) {
    describe(`${corner.sandbox}, ${corner.way}`, () => {
      let opened: Promise<Arena> | undefined;
      afterAll(async () => (await opened)?.close());

      test.for(attacks[theme])("holds a script that $name", { timeout: 60_000 }, async (attack, context) => {
        needProgram(context, programOf[corner.sandbox]);
        opened ??= openArena(corner);

        const problems = await runAttack(await opened, attack);

        expect(problems).toEqual([]);
      });
    });
  }
}
