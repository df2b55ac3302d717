import { findCompilers, type CompilerReport } from "../../packages/build/find-compilers.ts";
import { examineSandboxes, type SandboxExamination } from "../../sandbox/examine-sandboxes.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { SandboxName } from "../../sandbox/sandbox.ts";
import { findInterpreters, findPackageTools, type FoundProgram } from "./find-programs.ts";

/** What scripts and WASM tools find on this machine. */
export interface MachineExamination {
  readonly sandbox: SandboxExamination;
  readonly interpreters: readonly FoundProgram[];
  readonly packageTools: readonly FoundProgram[];
  /** Empty if there is no sandbox to ask them in. */
  readonly compilers: readonly CompilerReport[];
}

/** What is being looked at. */
export interface ExamineOptions {
  readonly sandbox?: SandboxName | undefined;
  /** Where npm packages with compilers may be. */
  readonly directory: string;
  readonly onProgress: (what: string) => void;
}

/** Looks at everything that runs tools, at the same time as far as nothing waits for something else. */
export async function examineMachine({
  sandbox: asked,
  directory,
  onProgress,
}: ExamineOptions): Promise<MachineExamination> {
  onProgress("Trying the sandboxes, asking the interpreters");
  const programs = Promise.all([findInterpreters(), findPackageTools()]);
  const sandbox = await examineSandboxes(asked);
  onProgress("Asking the compilers");
  const compilers = await askCompilers(sandbox.used, directory);
  const [interpreters, packageTools] = await programs;
  onProgress("");
  return { sandbox, interpreters, packageTools, compilers };
}

async function askCompilers(used: SandboxName | undefined, directory: string): Promise<CompilerReport[]> {
  if (used === undefined) return [];
  const sandbox = await findSandbox({ name: used });
  try {
    return await findCompilers({ sandbox, packagesFrom: [directory, import.meta.dirname] });
  } finally {
    await sandbox.close();
  }
}
