import type { GitSession } from "./git-session.ts";

/** What is fetched of a repository. */
export interface WantedRef {
  /** What git asks for: the full name of a ref, or a commit. */
  readonly name: string;
  /** What the person asked for, if anything. */
  readonly ref?: string;
}

/**
 * Finds the branch, the tag or the commit that is meant: a branch goes before a tag of the same name.
 *
 * @throws {KitbagError} `import-failed` if the repository has none of this name.
 */
export async function findRef(session: GitSession): Promise<WantedRef> {
  const { ref } = session.source;
  if (ref !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(ref)) return { name: ref, ref };
  const refs = parseRefs(await session.run(["ls-remote", "--quiet", "--", session.address]));
  if (ref === undefined) {
    if (!refs.has("HEAD")) session.fail("the repository is empty, or names no branch; name one with #branch");
    return { name: "HEAD" };
  }
  const name = [`refs/heads/${ref}`, `refs/tags/${ref}`, ref].find((candidate) => refs.has(candidate));
  if (name !== undefined) return { name, ref };
  const tips = /^[0-9a-f]{7,}$/u.test(ref) ? [...refs].filter(([, commit]) => commit.startsWith(ref)) : [];
  const [tip] = new Set(tips.map(([, commit]) => commit));
  if (tip !== undefined) return { name: tip, ref };
  return session.fail(describeMissing(ref, [...refs.keys()]));
}

function parseRefs(output: Buffer): Map<string, string> {
  const lines = output.toString("utf8").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, commit, name] = /^([0-9a-f]{40,64})\t(\S+)$/u.exec(line) ?? [];
      return commit === undefined || name === undefined || name.endsWith("^{}") ? [] : [[name, commit] as const];
    }),
  );
}

const mostNamed = 8;

function describeMissing(ref: string, names: readonly string[]): string {
  if (/^[0-9a-f]{7,}$/u.test(ref)) return `it has no branch or tag ${ref}; give all 40 digits of a commit`;
  const known = names.flatMap((name) => /^refs\/(?:heads|tags)\/(.+)$/u.exec(name)?.[1] ?? []);
  const more = known.length > mostNamed ? ", …" : "";
  const shown = known.slice(0, mostNamed).map((name) => JSON.stringify(name));
  return `it has no branch or tag ${JSON.stringify(ref)}; it has ${shown.join(", ") || "none"}${more}`;
}
