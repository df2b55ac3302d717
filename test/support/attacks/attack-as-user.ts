/**
 * Runs attacks as whoever starts it, for tests that are another user: `attack-as-user.ts <sandbox> <way>`. Prints a line of JSON for
 * each attack: its name, and what must not have happened.
 */
import { attacks } from "./all-attacks.ts";
import { corners, openArena } from "./arena.ts";
import { runAttack } from "./run-attack.ts";

const [sandbox, way] = process.argv.slice(2);
const corner = corners.find((known) => known.sandbox === sandbox && known.way === way);
if (corner === undefined) throw new TypeError(`there is no corner ${sandbox} ${way}`);
const arena = await openArena(corner);
try {
  for (const attack of Object.values(attacks).flat()) {
    const problems = await runAttack(arena, attack);
    console.log(JSON.stringify({ name: attack.name, problems }));
  }
} finally {
  await arena.close();
}
