/** The packages that the files of a skill declare. */
export interface DeclaredPackages {
  /** The file that declares a package whose name fits; nothing if none does. */
  find(language: "python" | "javascript", fits: (name: string) => boolean): string | undefined;
}

/** A file of a skill as text. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

const requirements = /(?:^|\/)requirements[\w.-]*\.(?:txt|in)$/u;

/** Tells whether a file may declare packages. */
export function isPackageFile(path: string): boolean {
  return requirements.test(path) || /(?:^|\/)(?:package|deno)\.jsonc?$|(?:^|\/)pyproject\.toml$/u.test(path);
}

/** Reads requirements.txt, pyproject.toml, package.json and deno.json. */
export function readDeclaredPackages(files: readonly TextFile[]): DeclaredPackages {
  const declared = files.map((file) => ({ path: file.path, ...namesIn(file) }));
  return {
    find: (language, fits) => declared.find((file) => file.language === language && file.names.some(fits))?.path,
  };
}

function namesIn({ path, text }: TextFile): { language: "python" | "javascript"; names: readonly string[] } {
  if (requirements.test(path)) return { language: "python", names: requirementNames(text) };
  if (path.endsWith(".toml")) return { language: "python", names: projectNames(text) };
  return { language: "javascript", names: packageNames(text) };
}

function requirementNames(text: string): readonly string[] {
  return Array.from(text.matchAll(/^[ \t]*([A-Za-z0-9][\w.-]*)/gmu), ([, name = ""]) => name);
}

/** `dependencies = ["requests>=2"]`, and the tables of Poetry. */
function projectNames(text: string): readonly string[] {
  const lists = Array.from(text.matchAll(/dependencies\s*=\s*\[([\s\S]{0,20000}?)\]/gu), ([, list = ""]) => list).join(
    "\n",
  );
  const listed = Array.from(lists.matchAll(/["']([A-Za-z0-9][\w.-]*)/gu), ([, name = ""]) => name);
  const table = /^\[tool\.poetry\.dependencies\]\n([\s\S]{0,20000}?)(?=^\[|(?![\s\S]))/mu.exec(text)?.[1] ?? "";
  return [...listed, ...Array.from(table.matchAll(/^([A-Za-z0-9][\w.-]*)\s*=/gmu), ([, name = ""]) => name)];
}

function packageNames(text: string): readonly string[] {
  try {
    const json = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const groups = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "imports"];
    return groups.flatMap((group) => {
      const entries = json[group];
      return typeof entries === "object" && entries !== null ? Object.keys(entries) : [];
    });
  } catch {
    // A file that cannot be read declares nothing; the reader of that file says what is wrong with it.
    return [];
  }
}
