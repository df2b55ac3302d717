import { findByEnding } from "../../runtimes/script/families.ts";
import type { Language } from "../../packages/build/languages.ts";
import { scriptLanguages, wasmLanguages, type CodeDraft, type ForgeLanguage } from "./tool-draft.ts";

const scriptEndings: Readonly<Record<(typeof scriptLanguages)[number], string>> = {
  python: "py",
  javascript: "js",
  typescript: "ts",
  bash: "sh",
  ruby: "rb",
  perl: "pl",
  php: "php",
  lua: "lua",
  powershell: "ps1",
  r: "r",
};

const wasmEndings: Readonly<Record<Language, string>> = {
  assemblyscript: "ts",
  c: "c",
  "c++": "cpp",
  go: "go",
  javascript: "js",
  rust: "rs",
  zig: "zig",
};

/** The module that a tool's source is built into. */
export const moduleFile = "tool.wasm";

/** Where the code of a draft stands in its folder, and what is run. */
export interface CodePlaces {
  readonly type: "script" | "wasm";
  /** The file with the code that the draft gives. */
  readonly codeFile: string;
  /** What is run. */
  readonly entryFile: string;
  /** What the compiler is given, and in which language it is. */
  readonly source?: { readonly file: string; readonly language: Language };
}

/**
 * Finds the places of a draft's files. A program is never called like the tool: a Python script `json.py` would be what
 * `import json` finds.
 */
export function toPlaces({ language, files = {} }: Pick<CodeDraft, "language" | "files">): CodePlaces {
  if (!isWasm(language)) {
    const file = `main.${scriptEndings[language]}`;
    return { type: "script", codeFile: file, entryFile: file };
  }
  // Two spellings of one language.
  const source = language === "wasm-cpp" ? "c++" : (language.slice("wasm-".length) as Language);
  const hasCargo = source === "rust" && Object.hasOwn(files, "Cargo.toml");
  const hasModule = source === "go" && Object.hasOwn(files, "go.mod");
  const codeFile = hasCargo ? "src/main.rs" : `main.${wasmEndings[source]}`;
  const built = hasCargo ? "Cargo.toml" : hasModule ? "go.mod" : codeFile;
  return { type: "wasm", codeFile, entryFile: moduleFile, source: { file: built, language: source } };
}

/** Finds the language of a script by its file, or of a WASM module by what it is built from. */
export function toLanguage(entryFile: string, source: Language | undefined): ForgeLanguage | undefined {
  if (source !== undefined) return wasmLanguages.find((one) => one === `wasm-${source}`);
  const ending = entryFile.slice(entryFile.lastIndexOf(".") + 1);
  const exact = scriptLanguages.find((one) => scriptEndings[one] === ending);
  if (exact !== undefined) return exact;
  // Other endings of the same interpreter: .mjs, .cjs, .mts, .bash.
  const words = findByEnding(entryFile)?.[0];
  if (words === "node") return ending.endsWith("ts") ? "typescript" : "javascript";
  return words === "bash" ? "bash" : undefined;
}

function isWasm(language: ForgeLanguage): language is (typeof wasmLanguages)[number] {
  return language.startsWith("wasm-");
}
