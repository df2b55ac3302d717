import { quote, type Problem } from "../../core/errors.ts";
import type { ToolAnnotations } from "../../core/tool.ts";

/** A tool that another one is made of. Without annotations nothing is known about it, and the worst is assumed. */
export interface AnnotatedPart {
  readonly name: string;
  readonly annotations?: ToolAnnotations;
}

const worst: ToolAnnotations = { readOnly: false, destructive: true, idempotent: false, openWorld: true };

/**
 * The annotations of a tool that calls all of `parts`. What a part leaves open counts against it: the result is read-only and
 * idempotent only if every part says so, and destructive unless every part says that it is not.
 */
export function deriveAnnotations(parts: readonly AnnotatedPart[]): ToolAnnotations {
  const all = parts.map(({ annotations = worst }) => annotations);
  const openWorld = all.every((one) => one.openWorld === false) ? false : all.some((one) => one.openWorld) || undefined;
  return {
    readOnly: all.every((one) => one.readOnly === true),
    destructive: all.some(isDestructive),
    idempotent: all.every(mayRunAgain),
    ...(openWorld !== undefined && { openWorld }),
  };
}

/** Tells whether a tool may be run again: it is idempotent, or only reads. */
export function mayRunAgain(annotations: ToolAnnotations): boolean {
  return annotations.idempotent === true || annotations.readOnly === true;
}

function isDestructive(annotations: ToolAnnotations): boolean {
  return annotations.destructive ?? annotations.readOnly !== true;
}

const claims: readonly {
  readonly name: keyof ToolAnnotations;
  readonly claimed: boolean;
  readonly holds: (annotations: ToolAnnotations) => boolean;
  readonly words: string;
}[] = [
  { name: "readOnly", claimed: true, holds: (part) => part.readOnly === true, words: "read-only" },
  { name: "destructive", claimed: false, holds: (part) => !isDestructive(part), words: "marked as not destructive" },
  { name: "idempotent", claimed: true, holds: mayRunAgain, words: "idempotent" },
  { name: "openWorld", claimed: false, holds: (part) => part.openWorld === false, words: "marked as openWorld: false" },
];

/** What an author claims for a composed tool that its parts do not bear out. */
export function checkClaims(declared: ToolAnnotations, parts: readonly AnnotatedPart[]): Problem[] {
  const problems: Problem[] = [];
  for (const { name, claimed, holds, words } of claims) {
    const culprit = parts.find(({ annotations = worst }) => !holds(annotations));
    if (declared?.[name] !== claimed || culprit === undefined) continue;
    problems.push({
      path: `annotations.${name}`,
      expected: `no ${name}: ${claimed}, because ${quote(culprit.name)} is not ${words}`,
      found: String(claimed),
    });
  }
  return problems;
}

/** Adds what an author declares to what follows from the parts. {@link checkClaims} has refused what would make it milder. */
export function widenAnnotations(derived: ToolAnnotations, declared: ToolAnnotations = {}): ToolAnnotations {
  const said = Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined));
  const readOnly = declared.readOnly ?? (declared.destructive === true ? false : derived.readOnly);
  return { ...derived, ...said, readOnly: readOnly === true };
}
