import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Compiler, CompilerSearch } from "./compilers/compiler.ts";
import { compilerKinds } from "./compilers/compilers.ts";
import { createSearch } from "./create-search.ts";
import { languages, type Language } from "./languages.ts";

/** The compiler of a language on this machine, or how to get one. */
export type CompilerReport =
  | { readonly language: Language; readonly program: string; readonly version: string }
  | { readonly language: Language; readonly cure: string };

/** What {@link findCompilers} looks through. */
export interface FindCompilersOptions {
  /** Compilers are asked for their version inside of it. */
  readonly sandbox: Sandbox;
  /** Folders in whose `node_modules`, or above, compilers may be installed. */
  readonly packagesFrom?: readonly string[];
}

/** Finds the compilers of all languages that tools can be built from. */
export function findCompilers({ sandbox, packagesFrom = [] }: FindCompilersOptions): Promise<CompilerReport[]> {
  const search = createSearch(sandbox, packagesFrom);
  return Promise.all(
    languages.map(async (language) => {
      const found = await findCompiler(language, search);
      if (found === undefined) return { language, cure: toCure(language) };
      return { language, program: found.program, version: found.version };
    }),
  );
}

/** Finds the compiler that is used for a language. */
export async function findCompiler(language: Language, search: CompilerSearch): Promise<Compiler | undefined> {
  for (const kind of compilerKinds) {
    const found = kind.languages.includes(language) ? await kind.find(language, search) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** How to get a compiler of a language. */
export function toCure(language: Language): string {
  const first = compilerKinds.find(({ languages }) => languages.includes(language));
  return first === undefined ? "there is none that Kitbag knows" : first.toCure(language);
}
