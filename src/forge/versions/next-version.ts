import type { VersionStep } from "../forge-interface.ts";

const form = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/u;

type Numbers = readonly [major: number, minor: number, patch: number];

/** Tells whether `text` is a version that the forge gives: three numbers. */
export function isVersion(text: unknown): text is string {
  return typeof text === "string" && form.test(text);
}

/** Less than 0 if `left` is the older one. */
export function compareVersions(left: string, right: string): number {
  const [one, other] = [toNumbers(left), toNumbers(right)];
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

/** The version that is so far from `version`. */
export function stepFrom(version: string, step: VersionStep): string {
  const [major, minor, patch] = toNumbers(version);
  switch (step) {
    case "major":
      return `${major + 1}.0.0`;
    case "minor":
      return `${major}.${minor + 1}.0`;
    case "patch":
      return `${major}.${minor}.${patch + 1}`;
  }
}

/** What the next version is made of. */
export interface NextVersion {
  /** The version that was edited, and how far the new one is from it. */
  readonly base: string;
  readonly step: VersionStep;
  /** All that were ever given. */
  readonly taken: readonly string[];
  /** How far the new one is from another of these: asked if the base is not the newest. */
  readonly stepSince: (version: string) => VersionStep;
}

/**
 * The version of an edit. Versions only go up: an edit of an older one, after a rollback, gets a number behind the newest, as far
 * from that as it is different from it.
 */
export function nextVersion({ base, step, taken, stepSince }: NextVersion): string {
  const newest = taken.reduce((best, one) => (compareVersions(one, best) > 0 ? one : best), base);
  return newest === base ? stepFrom(base, step) : stepFrom(newest, stepSince(newest));
}

function toNumbers(version: string): Numbers {
  const [, major = "0", minor = "0", patch = "0"] = form.exec(version) ?? [];
  return [Number(major), Number(minor), Number(patch)];
}
