import type { ArgvFacts, FlagFact } from "../arguments/argv-facts.ts";
import type { Code } from "../code/code.ts";
import { argumentsOf, textOf, textsOf } from "../code/literals.ts";

/** Adds the flags of `getopt.getopt(sys.argv[1:], "ho:", ["help", "output="])`, which tells what has a value. */
export function withGetopt(facts: ArgvFacts, code: Code): ArgvFacts {
  const call = [...code.callsOf("getopt"), ...code.callsOf("gnu_getopt")].find(({ args }) => args.length > 1);
  if (call === undefined) return facts;
  const [, short, long] = argumentsOf(code, call);
  const letters = (textOf(short) ?? "").match(/[A-Za-z0-9]:?/gu) ?? [];
  const notations = [...textsOf(long).map((name) => `--${name}`), ...letters.map((letter) => `-${letter}`)];
  const spellings = new Map(facts.flags.flatMap((fact) => fact.flags.map((flag) => [flag, fact.flags] as const)));
  const flags = new Map<string, FlagFact>();
  for (const notation of notations) {
    const flag = notation.replace(/[:=]$/u, "");
    // Two spellings of one flag stand in one comparison: `if o in ("-o", "--output")`.
    const all = spellings.get(flag) ?? [flag];
    const key = all.join(" ");
    const takesValue = flags.get(key)?.takesValue === true || notation !== flag;
    const isLong = all.some((spelling) => spelling.startsWith("--"));
    flags.set(key, { flags: all, takesValue, ...(takesValue && isLong && { joined: "either" }) });
  }
  return { ...facts, readsArgv: true, flags: [...flags.values()], separator: true };
}
