import { isKitbagError, quote, toFailure } from "../../core/errors.ts";
import type { VersionDiff } from "../../records/versions/diff-versions.ts";
import { createVersions, type Versions } from "../../records/versions/versions.ts";
import { diffForged, findForged, listForgedVersions, type ForgedVersions } from "../forge/forged-versions.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { getTexts, addStoreOption } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { renderPatch, renderTable, showTime } from "../render.ts";
import { withKept } from "../store/open-kept.ts";
import { failedAnswer } from "../report-error.ts";

/** `kitbag versions`: what tools and skills were before. */
export const versionsCommand: CliCommand = {
  examples: [
    ["kitbag versions", "the tools and skills of which versions are kept"],
    ["kitbag versions pdf-text/extract_text", "every version that was called, the newest last; * is the current one"],
    ["kitbag versions pdf-text --diff 1 2", "what changed between two versions: by number, label or digest"],
  ],
  define(command) {
    command.argument("[address]", "a tool or a skill");
    command.option("--diff <versions...>", "two versions to compare, the older one first");
    addStoreOption(command);
  },
  async run(invocation) {
    const [address] = invocation.args;
    const made = address === undefined ? undefined : findForged(address, invocation);
    if (address === undefined || made === undefined) return listKept(invocation);
    const pair = getTexts(invocation.options, "diff");
    if (pair.length === 0) return listForged(address, made, invocation);
    return compare((from, to) => diffMade(address, [from, to], invocation), address, pair, invocation);
  },
};

/** What the audit says of a tool is the digest of its definition, which only the store knows. */
async function diffMade(
  address: string,
  pair: readonly [number | string, number | string],
  invocation: Invocation,
): Promise<VersionDiff> {
  try {
    return await diffForged(address, pair, invocation);
  } catch (cause) {
    if (!isKitbagError(cause, "version-not-found")) throw cause;
    const kept = withKept(invocation, ({ store }) => createVersions(store).diff(address, ...pair));
    return kept.catch(() => {
      throw cause;
    });
  }
}

function listKept(invocation: Invocation): Promise<Answer> {
  return withKept(invocation, ({ store }) => {
    const [address] = invocation.args;
    const pair = getTexts(invocation.options, "diff");
    const versions = createVersions(store);
    if (address === undefined) return listAddresses(versions, pair, invocation);
    const name = address.replace(/^plugin:/u, "");
    if (pair.length === 0) return listVersions(versions, name, invocation);
    return compare((from, to) => versions.diff(name, from, to), name, pair, invocation);
  });
}

async function listForged(address: string, made: "tool" | "skill", invocation: Invocation): Promise<Answer> {
  const { withForge } = await import("../forge/with-forge.ts");
  const versions = await withForge(invocation, (forge) =>
    made === "tool" ? forge.listVersions(address) : forge.listSkillVersions(address),
  );
  const rows = versions.map(({ version, current, at, digest, author = "", description }) => [
    current ? "*" : "",
    version,
    at === 0 ? "" : showTime(at),
    digest.slice(0, shownDigest),
    author,
    description,
  ]);
  const text = renderTable(["", "VERSION", "MADE", "DIGEST", "AUTHOR", "DESCRIPTION"], rows, invocation.terminal);
  return { document: { address, versions }, text };
}

async function listAddresses(versions: Versions, pair: readonly string[], invocation: Invocation): Promise<Answer> {
  if (pair.length > 0) throw usageError("Cannot compare versions of nothing: name a tool or a skill before --diff");
  const forged = await listForgedVersions(invocation);
  const items: ForgedVersions[] = [...forged];
  for (const address of await versions.addresses()) {
    if (forged.some((one) => one.address === address)) continue;
    items.push({
      address,
      versions: (await versions.list(address)).length,
      current: await versions.current(address),
    });
  }
  if (items.length === 0) return { document: { addresses: [] }, text: "No versions are kept: call a tool first." };
  items.sort((left, right) => (left.address < right.address ? -1 : 1));
  const hasMakers = items.some(({ madeBy }) => madeBy !== undefined);
  const rows = items.map(({ address, versions: count, current, madeBy = "" }) => [
    address,
    String(count),
    current?.label ?? current?.digest.slice(0, shownDigest) ?? "",
    current === undefined || current.time === 0 ? "" : showTime(current.time),
    ...(hasMakers ? [madeBy] : []),
  ]);
  const heads = ["ADDRESS", "VERSIONS", "CURRENT", "SINCE", ...(hasMakers ? ["WHOSE"] : [])];
  const text = renderTable(heads, rows, invocation.terminal);
  return { document: { addresses: items }, text };
}

/** How many characters of a digest are shown: enough to tell versions apart, and enough for --diff. */
const shownDigest = "sha256:".length + 12;

async function listVersions(versions: Versions, address: string, { terminal }: Invocation): Promise<Answer> {
  const [list, current] = await Promise.all([versions.list(address), versions.current(address)]);
  if (list.length === 0) {
    const answer = failedAnswer(toFailure("version-not-found", { address, which: "current", known: [] }));
    const failure = `Cannot find versions of ${quote(address)}: none is kept; kitbag versions lists what was called`;
    return { ...answer, failure: toPrintable(failure) };
  }
  const rows = list.map(({ number, label = "", digest, author = "", time }) => [
    number === current?.number ? "*" : "",
    String(number),
    label,
    showTime(time),
    digest.slice(0, shownDigest),
    author,
  ]);
  const text = renderTable(["", "NUMBER", "LABEL", "KEPT", "DIGEST", "AUTHOR"], rows, terminal);
  return { document: { address, current: current?.number, versions: list }, text };
}

async function compare(
  diffTwo: (from: number | string, to: number | string) => Promise<VersionDiff>,
  address: string,
  [from, to, ...more]: readonly string[],
  { terminal }: Invocation,
): Promise<Answer> {
  if (from === undefined || to === undefined || more.length > 0) {
    throw usageError("Cannot compare: --diff takes two versions, as in kitbag versions pdf-text --diff 1 2");
  }
  const diff = await diffTwo(toWhich(from), toWhich(to));
  const text = renderDiff(diff) || "They are the same.";
  return { document: { address, from, to, ...diff }, text: renderPatch(text, terminal) };
}

/** A short number counts the versions; a longer one is the beginning of a digest. */
function toWhich(text: string): number | string {
  return /^[1-9]\d{0,5}$/u.test(text) ? Number(text) : text;
}

function renderDiff({ definition, files }: VersionDiff): string {
  return [
    ...(definition === undefined ? [] : [definition]),
    ...files.map(({ path, change, patch }) => patch ?? `${change} ${path} (not shown: no text, or too long)\n`),
  ].join("\n");
}
