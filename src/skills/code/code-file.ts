/** The names that a skill's own code may have, in the order in which they are looked for. */
export const codeFiles: readonly string[] = ["skill.ts", "skill.js", "skill.mjs"];

/**
 * Tells whether a file is the code of a skill: it must name `defineSkill`. Other programs have files of these names too, and what
 * is not meant for us is neither a skill nor ever run.
 */
export function isSkillCode(bytes: Uint8Array): boolean {
  return /\bdefineSkill\b/u.test(new TextDecoder().decode(bytes));
}

/** Finds the code of a skill among the files of its folder, by path. */
export function findSkillCode(contents: ReadonlyMap<string, Uint8Array>): string | undefined {
  return codeFiles.find((name) => {
    const bytes = contents.get(name);
    return bytes !== undefined && isSkillCode(bytes);
  });
}
