/**
 * Runs attacks as whoever starts it, for tests that are another user: `attack-as-user.ts <sandbox> <way>`. Prints a line of JSON for
 * each attack: its name, and what must not have happened.
 */
import { findProgram } from "../../../src/sandbox/programs.ts";
import { attacks } from "./all-attacks.ts";
import { needsPython } from "./attack.ts";
import { corners, openArena } from "./arena.ts";
import { runAttack } from "./run-attack.ts";

const [sandbox, way] = process.argv.slice(2);
const corner = corners.find((known) => known.sandbox === sandbox && known.way === way);
if (corner === undefined) throw new TypeError(`there is no corner ${sandbox} ${way}`);
const arena = await openArena(corner);
try {
  for (const attack of Object.values(attacks).flat()) {
    if (needsPython(attack) && findProgram("python3") === undefined) continue;
    const problems = await runAttack(arena, attack);
    console.log(JSON.stringify({ name: attack.name, problems }));
  }
} finally {
  await arena.close();
}
