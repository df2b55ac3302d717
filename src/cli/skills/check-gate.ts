import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError, quote } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { WasmCode } from "../../core/script-code.ts";
import type { Skill } from "../../core/skill.ts";
import { toDigest } from "../../platform/digest.ts";
import { checkModule, RefusedModule } from "../../runtimes/wasm/inside/module/check-module.ts";
import { limitModule } from "../../runtimes/wasm/inside/module/limit-module.ts";
import { webAssembly } from "../../runtimes/wasm/inside/module/web-assembly.ts";
import { parseNetworkRule } from "../../sandbox/egress/network-rule.ts";
import { checkScopes } from "../../sandbox/grants.ts";
import type { SkillDocument } from "../../skills/document/skill-document.ts";

/** Checks the form of a skill's WASM modules, as it is checked when they run. Runs none. */
export async function checkModules({ tools }: Skill): Promise<readonly Diagnostic[]> {
  const codes = tools.flatMap(({ code }) => (code.kind === "wasm" ? [code as WasmCode] : []));
  const modules = new Map(codes.map((code) => [code.path, code]));
  const found: Diagnostic[] = [];
  for (const code of modules.values()) {
    const reason = await findReason(code);
    if (reason === undefined) continue;
    const message = `Cannot run ${quote(code.path)}: ${reason}`;
    const cure = "build it again as a WASI preview 1 command; see kitbag build";
    found.push({ severity: "error", code: "wasm-invalid", message, file: code.path, cure });
  }
  return found;
}

/** A module's memory is bounded when it runs; here only its form counts. */
const anyMemory = 2 ** 32;

async function findReason({ directory, path, digest }: WasmCode): Promise<string | undefined> {
  try {
    const bytes = readFileSync(join(directory, path));
    if (toDigest(bytes) !== digest) return "it was changed while it was checked";
    checkModule(await webAssembly.compile(limitModule(bytes, anyMemory)));
    return undefined;
  } catch (cause) {
    const { message } = cause as Error;
    return cause instanceof RefusedModule ? message : `it is damaged (${message})`;
  }
}

/**
 * Checks the rules of a skill's permissions, as they are checked when a tool runs. All tools of a skill have the same ones, so what is
 * wrong is said once. `directory` is what `./` is.
 */
export function checkRules({ name, permissions, folder }: Skill, directory: string): readonly Diagnostic[] {
  const file = folder?.files.find(({ path }) => /^(?:kitbag\.toml|manifest\.(?:toml|json))$/u.test(path))?.path;
  const attempts: (() => unknown)[] = [
    ...(permissions.network ?? []).map((rule) => () => parseNetworkRule(rule)),
    ...(["read", "write"] as const).flatMap((kind) =>
      (permissions[kind] ?? []).map((scope) => () => checkScopes(name, { [kind]: [scope] }, { directory })),
    ),
  ];
  return attempts.flatMap((attempt): Diagnostic[] => {
    try {
      attempt();
      return [];
    } catch (cause) {
      if (!isKitbagError(cause)) throw cause;
      return [{ severity: "error", code: cause.code, message: cause.message, file: file ?? "SKILL.md" }];
    }
  });
}

/** What of a SKILL.md names tools. */
export type NamingDocument = Pick<SkillDocument, "allowedTools" | "file" | "tools">;

/** A tool that front matter names: in `tools`, or in `allowed-tools`. */
interface NamedTool {
  readonly reference: string;
  readonly line?: number;
}

/** What other clients call their own tools, in lower case. */
const ofOtherClients =
  /^(?:read|write|edit|multiedit|bash|shell|terminal|grep|glob|ls|search|fetch|task|think|browser|computer|python|codebase|usages|problems|web[-_]?(?:search|fetch)|(?:read|write|edit|create|delete|list)[-_](?:file|files|dir|directory)|run[-_](?:command|terminal)|execute[-_](?:command|code)|code[-_]execution|mcp__.*)$/u;

/**
 * Finds tools that front matter names and that are not there. Other clients use these keys for their own tools (`Bash`, `Read`), so only an
 * address counts (`skill/tool`, `plugin:skill/tool`), and a bare name in a list that also has one of the skill's own tools. `findTools` gives the
 * names of a skill's tools, if they are known.
 */
export function checkNamedTools(
  skill: Skill,
  document: NamingDocument | undefined,
  findTools: (skill: string) => readonly string[] | undefined,
): readonly Diagnostic[] {
  if (document === undefined) return [];
  const own = [...skill.tools, ...skill.reuses].map(({ name }) => name);
  const named: NamedTool[] = [
    ...document.tools.filter(({ from }) => from === "tools"),
    ...document.allowedTools.map(({ name }) => ({ reference: name })),
  ];
  const isOwnList = named.some(({ reference }) => own.includes(reference));
  const isClaimed = (name: string): boolean => isOwnList && !/[A-Z]/u.test(name) && !ofOtherClients.test(name);
  return named.flatMap(({ reference, line }): Diagnostic[] => {
    const steps = reference
      .replace(/^plugin:/u, "")
      .replace(/@[^@]*$/u, "")
      .split("/");
    const name = steps.pop() ?? "";
    const [owner = skill.name, ...more] = steps;
    if (more.length > 0 || !isName(owner) || !isName(name) || (steps.length === 0 && !isClaimed(name))) return [];
    const tools = owner === skill.name ? own : findTools(owner);
    if (tools === undefined || tools.includes(name)) return [];
    const [nearest] = nearestNames(name, tools, 1);
    const message = `Names the tool ${quote(reference)}, and the skill ${quote(owner)} has no such tool`;
    const cure = nearest === undefined ? "take it out, or add the tool" : `Did you mean ${quote(nearest)}?`;
    const place = { file: document.file, ...(line !== undefined && { line }) };
    return [{ severity: "error", code: "tool-unknown", message, ...place, cure }];
  });
}
