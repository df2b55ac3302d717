import satisfies from "semver/functions/satisfies.js";
import validRange from "semver/ranges/valid.js";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import type { SkillFacts } from "./skill-facts.ts";
import { kitbagVersion } from "./facts-version.ts";

/** What a skill can be needed to run on. */
export interface Machine {
  readonly kitbag: string;
  readonly node: string;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly system: string;
}

const thisMachine: Machine = { kitbag: kitbagVersion, node: process.versions.node, system: process.platform };

/** How people name systems. */
const systems: Readonly<Record<string, string>> = { linux: "linux", macos: "darwin", windows: "win32" };

/**
 * Says what a skill needs that this machine does not have: the versions of Kitbag and Node, and the systems, of `[needs]` in kitbag.toml
 * and of `metadata.kitbag-needs` in SKILL.md (`kitbag >=0.2, node >=24, linux`). A skill with unmet needs is not loaded.
 */
export function checkNeeds({ document, manifest }: SkillFacts, machine: Machine = thisMachine): readonly Diagnostic[] {
  const { kitbag, node, system = [] } = manifest?.needs ?? {};
  const listed = [
    ...(kitbag === undefined ? [] : [`kitbag ${kitbag}`]),
    ...(node === undefined ? [] : [`node ${node}`]),
  ];
  const inManifest = toUnmet([...listed, ...system], machine);
  const words = document?.kitbag["needs"] ?? "";
  const inDocument = toUnmet(
    words.split(",").map((word) => word.trim()),
    machine,
  );
  return [
    ...inManifest.map((message) => toDiagnostic(message, manifest?.file ?? "kitbag.toml")),
    ...inDocument.map((message) => toDiagnostic(message, document?.file ?? "SKILL.md")),
  ];
}

function toDiagnostic(message: string, file: string): Diagnostic {
  return { severity: "error", code: "needs-unmet", message, file };
}

function toUnmet(needs: readonly string[], { kitbag, node, system }: Machine): readonly string[] {
  const wanted = needs.filter((need) => need !== "");
  const named = wanted.filter((need) => Object.hasOwn(systems, need));
  const unfit =
    named.length > 0 && !named.some((need) => systems[need] === system)
      ? [`Needs ${named.join(" or ")}, and this machine runs ${nameOf(system)}`]
      : [];
  const others = wanted.filter((need) => !Object.hasOwn(systems, need));
  return [...unfit, ...others.flatMap((need) => toUnmetVersion(need, { Kitbag: kitbag, Node: node }) ?? [])];
}

function nameOf(system: string): string {
  return Object.keys(systems).find((name) => systems[name] === system) ?? system;
}

function toUnmetVersion(need: string, versions: Readonly<Record<string, string>>): string | undefined {
  const [, program = "", range = ""] = /^(\w+)\s*(.*)$/su.exec(need) ?? [];
  const name = Object.keys(versions).find((one) => one.toLowerCase() === program.toLowerCase());
  if (name === undefined || validRange(range) === null)
    return `Cannot read what it needs: ${quote(need)} is no version of Kitbag or Node such as "node >=24", and no system (${Object.keys(systems).join(", ")})`;
  const version = versions[name] ?? "";
  if (satisfies(version, range, { includePrerelease: true })) return undefined;
  return `Needs ${name} ${range}, and this is ${name} ${version}`;
}
