import { afterAll, describe, expect, test } from "vitest";

import { needProgram } from "../need-program.ts";
import { attacks } from "./all-attacks.ts";
import { needsPython } from "./attack.ts";
import { corners, openArena, programsOf, type Arena } from "./arena.ts";
import { runAttack } from "./run-attack.ts";

/** Runs all attacks of a theme in every sandbox and in every way to start. */
export function testAttacks(theme: keyof typeof attacks): void {
  for (const corner of corners) {
    describe(`${corner.sandbox}, ${corner.way}`, () => {
      let opened: Promise<Arena> | undefined;
      afterAll(async () => (await opened)?.close());

      test.for(attacks[theme])("holds a script that $name", { timeout: 60_000 }, async (attack, context) => {
        for (const program of programsOf(corner)) needProgram(context, program);
        if (needsPython(attack)) needProgram(context, "python3");
        opened ??= openArena(corner);

        const problems = await runAttack(await opened, attack);

        expect(problems).toEqual([]);
      });
    });
  }
}
