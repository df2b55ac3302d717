/** How near a folder is to being the original of its skill, in the order in which it counts. */
export interface SkillRank {
  /** Which of the folders that are searched it is in; the first goes before all others. */
  readonly root: number;
  /** How many folders on the way say that what is in them is a copy: 0 for an original. */
  readonly copies: number;
  /** How many folders are between the root and the skill. */
  readonly depth: number;
}

/** Names of folders that hold what is not meant to be used, or what is a copy of something else. */
const copyForms: readonly RegExp[] = [
  /^[._-]?(?:backups?|bak|old|archived?|deprecated|legacy|obsolete|removed|trash|attic)(?:[._-].*)?$/iu,
  /(?:^|[._-])(?:backups?|bak|old|orig)$/iu,
  /^(?:planned|proposed|draft|wip|todo)s?(?:[._-].*)?$/iu,
  /^(?:mirrors?|copies|copy|vendor|vendored|third[_-]party|dist|build|out|generated|snapshots?)$/iu,
  /^(?:tests?|__tests__|fixtures?|examples?|samples?|demos?|templates?|docs?)$/iu,
  /^(?:i18n|l10n|locales?|translations?|translated)$/iu,
  // "ja-JP", "pt_BR", "zh-Hans".
  /^[a-z]{2}[-_](?:[A-Z]{2}|[a-z]{2}|Han[st])$/u,
];

/** A two-letter folder is a language only where texts are. */
const language = /^[a-z]{2}$/u;
const textFolder = /^(?:docs?|i18n|l10n|locales?|translations?)$/iu;

/** Ranks a skill by the folders (`steps`) between the root that was searched and the skill; its own folder is the last of them. */
export function toRank(root: number, steps: readonly string[]): SkillRank {
  const above = steps.slice(0, -1);
  const copies = above.filter((step, index) => {
    const parent = above[index - 1] ?? "";
    // What `.claude`, `.cursor` and such hold is mostly made of what stands beside them; `skills/.curated` is no such folder.
    const isOfClient = step.startsWith(".") && step !== ".kitbag" && step !== ".agents" && parent !== "skills";
    const isLanguage = language.test(step) && textFolder.test(parent);
    return isOfClient || isLanguage || copyForms.some((form) => form.test(step));
  });
  return { root, copies: copies.length, depth: steps.length };
}

/** Compares two ranks: negative if the first goes before the second. */
export function compareRanks(one: SkillRank, other: SkillRank): number {
  return one.root - other.root || one.copies - other.copies || one.depth - other.depth;
}
