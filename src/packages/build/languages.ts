import { basename, extname } from "node:path";

/** The languages that tools can be built from, as manifests name them. */
export const languages = ["c", "c++", "rust", "assemblyscript", "zig", "go", "javascript"] as const;

/** A language that tools can be built from. */
export type Language = (typeof languages)[number];

const byExtension: Readonly<Record<string, Language>> = {
  ".c": "c",
  ".cc": "c++",
  ".cpp": "c++",
  ".cxx": "c++",
  ".rs": "rust",
  ".ts": "assemblyscript",
  ".zig": "zig",
  ".go": "go",
  ".js": "javascript",
  ".mjs": "javascript",
};

/** The language of a source file by its name; none if the name does not tell. */
export function languageOf(path: string): Language | undefined {
  if (basename(path) === "Cargo.toml") return "rust";
  const extension = extname(path);
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

/** Tells whether `value` names one of the {@link languages}. */
export function isLanguage(value: unknown): value is Language {
  return languages.some((language) => language === value);
}

/** How the languages are called in sentences. */
export const languageNames: Readonly<Record<Language, string>> = {
  c: "C",
  "c++": "C++",
  rust: "Rust",
  assemblyscript: "AssemblyScript",
  zig: "Zig",
  go: "Go",
  javascript: "JavaScript",
};
