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
        const arena = await opened;
        // Without a limit these would take every process of the machine, and all that runs on it.
        const isUnlimited = attack.against === "process-count" && !arena.enforces.has("process-count");
        context.skip(isUnlimited, `${corner.sandbox} does not limit the number of processes of an ordinary user`);

        const problems = await runAttack(arena, attack);

        expect(problems).toEqual([]);
      });
    });
  }
}
