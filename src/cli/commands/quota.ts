import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { quote } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { quotaNames, type QuotaName } from "../../core/quotas.ts";
import type { Store } from "../../core/store.ts";
import { localUser } from "../../core/scopes.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { listCounted } from "../../workspace/quotas/day-counters.ts";
import { changeKeptQuotas, findWrongLimit, type QuotaLimits } from "../../workspace/quotas/quota-options.ts";
import { createQuotas, type Quotas, readUsage, type UsedQuota } from "../../workspace/quotas/quotas.ts";
import { createUsers } from "../../workspace/users.ts";
import type { WorkspaceOptions } from "../../workspace/workspace.ts";
import { showDollars } from "../agent/view/describe-end.ts";
import { type Answer, type CliCommand, type Invocation, usageError, runAction, type Action } from "../cli-command.ts";
import { findConfig } from "../config/find-config.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { addOption, getText, addStoreOption } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { renderTable, toShellWord, showBytes } from "../render.ts";
import { hasTokenFile, loadTokens, ownTokenFile } from "../serve/token-file.ts";
import { defaultStore, findNamedStore, nameStore, type KeptChoice } from "../store/choose-store.ts";
import { loadKnownStores } from "../store/known-stores.ts";
import { checkKept, openKept } from "../store/open-kept.ts";
import { createRecords } from "../store/open-records.ts";

/** `kitbag quota`: how much each user may use, and has used. */
export const quotaCommand: CliCommand = {
  examples: [
    ["kitbag quota", "the quotas of all users, and what is used of them"],
    ["kitbag quota list ann", "those of ann"],
    [
      "kitbag quota set ann --calls 1000 --dollars 5",
      "a day, in UTC; a service that runs holds ann to it within a second",
    ],
    ["kitbag quota set --each --concurrent 4 --bytes 100MiB", "for each user who has no such quota of their own"],
    ["kitbag quota set ann --calls none", "no quota of calls, whatever holds for each user"],
    ["kitbag quota clear ann calls", "what was set for ann is gone, and the configuration holds again"],
  ],
  define(command) {
    command.argument("[action]", "list, set or clear; list unless given");
    command.argument("[words...]", "a user, who need not have a token yet; clear: also which quotas, all unless given");
    command.option("--each", "set and clear: for each user but the local one, instead of one user");
    addOption(command, "--calls <number>", "calls a day; none to take the quota away");
    addOption(command, "--concurrent <number>", "calls at once, in all processes together");
    addOption(command, "--tokens <number>", "model tokens a day, input and output");
    addOption(command, "--dollars <number>", "US dollars for models a day");
    addOption(command, "--bytes <size>", "kept state and outputs: 500000, 64KiB, 100MB, 2GiB");
    addOption(command, "--drafts <number>", "tools and skills that are made or changed in a day");
    addStoreOption(command);
  },
  // The store of `kitbag serve` in the same folder.
  async run(invocation) {
    const [first = "list"] = invocation.args;
    const known = Object.keys(actions);
    if (invocation.args.length === 1 && !known.includes(first) && nearestNames(first, known, 1).length === 0) {
      const cure = `for the quotas of a user: kitbag quota list ${toShellWord(toPrintable(first))}`;
      throw usageError(`Cannot run kitbag quota ${quote(first)}: there is no such action; ${cure}`);
    }
    return runAction("quota", actions, { ...invocation, makesTools: true }, "list");
  },
};

const actions: Readonly<Record<string, Action>> = {
  list: { words: [0, 1], run: listQuotas },
  set: { words: [0, 1], run: setQuotas },
  clear: { words: [0, Infinity], run: clearQuotas },
};

interface UserUsage {
  readonly user: string;
  readonly quotas: readonly UsedQuota[];
}

async function listQuotas(invocation: Invocation): Promise<Answer> {
  const config = await loadTrustedOptions(invocation);
  const { store, name } = await openKept(invocation, config);
  try {
    const { ownerOf } = createUsers(createRecords(invocation).user);
    const quotas = createQuotas({ options: config.quotas, store, users: { ownerOf } });
    await quotas.refresh();
    const [asked] = invocation.args;
    const names = asked === undefined ? await findUsers(invocation, quotas, store) : [ownerOf(asked) ?? localUser];
    const users: UserUsage[] = [];
    for (const user of names) {
      const account = quotas.of(user);
      if (account !== undefined) users.push({ user, quotas: await readUsage(store, account) });
    }
    const document = { store: name, each: quotas.each(), users };
    return { document, text: `${renderQuotas(document, asked, invocation)}\n${toPrintable(`Store: ${name}`)}` };
  } finally {
    await store.close();
  }
}

/** Users who have a quota by name, a token, or have used something. */
async function findUsers(invocation: Invocation, quotas: Quotas, store: Store): Promise<readonly string[]> {
  const { ownerOf } = createUsers(createRecords(invocation).user);
  const names = [...quotas.named(), ...(await findActive(invocation, store))];
  return [...new Set(names.map((name) => ownerOf(name) ?? localUser))].toSorted();
}

/** Users who have a token, or have used something. */
async function findActive({ env }: Invocation, store: Store): Promise<readonly string[]> {
  const path = ownTokenFile(resolveKitbagHome(env));
  const tokens = hasTokenFile(path) ? loadTokens(path).flatMap(({ id }) => id ?? []) : [];
  return [...tokens, ...(await listCounted(store.kv))];
}

function renderQuotas(
  { each, users }: { readonly each: QuotaLimits; readonly users: readonly UserUsage[] },
  asked: string | undefined,
  { terminal }: Invocation,
): string {
  const general = asked === undefined ? Object.entries(each) : [];
  const rows = [
    ...general.map(([quota, limit]) => ["(each user)", quota, show(quota as QuotaName, limit), "", "", ""]),
    ...users.flatMap(({ user, quotas }) =>
      quotas.map((one) => [
        user,
        one.quota,
        show(one.quota, one.limit),
        show(one.quota, one.used),
        one.startsAgain ?? "",
        `${one.by}${one.for === "each" ? ", for each user" : ""}`,
      ]),
    ),
  ];
  if (rows.length > 0) return renderTable(["USER", "QUOTA", "LIMIT", "USED", "STARTS AGAIN", "SET BY"], rows, terminal);
  return asked === undefined
    ? "There are no quotas. To set one: kitbag quota set <user> --calls 1000, or --each for each user"
    : toPrintable(`${quote(asked)} has no quotas. To set one: kitbag quota set <user> --calls 1000`);
}

function show(quota: QuotaName, amount: number | string): string {
  if (typeof amount === "string") return amount;
  if (quota === "dollars") return showDollars(amount);
  return quota === "bytes" ? showBytes(amount) : String(amount);
}

async function setQuotas(invocation: Invocation): Promise<Answer> {
  const limits = readLimits(invocation);
  if (Object.keys(limits).length === 0) {
    throw usageError(
      `Cannot set quotas without an amount: say one of ${quotaNames.map((name) => `--${name}`).join(", ")}`,
    );
  }
  return change(invocation, "set", (before) => ({ ...before, ...limits }));
}

async function clearQuotas(invocation: Invocation): Promise<Answer> {
  const names = isEach(invocation) ? invocation.args : invocation.args.slice(1);
  const wrong = names.find((name) => !quotaNames.some((known) => known === name));
  if (wrong !== undefined) throw usageError(`Cannot clear ${quote(wrong)}: the quotas are ${quotaNames.join(", ")}`);
  const isKept = (name: string): boolean => names.length > 0 && !names.includes(name);
  return change(invocation, "clear", (before) =>
    Object.fromEntries(Object.entries(before).filter(([name]) => isKept(name))),
  );
}

async function change(
  invocation: Invocation,
  action: "set" | "clear",
  toLimits: (before: QuotaLimits) => QuotaLimits,
): Promise<Answer> {
  const records = createRecords(invocation);
  const user = toUser(invocation, action, records.user);
  const named = findNamedStore(invocation);
  if (named !== undefined) checkKept(named);
  try {
    const options = await loadTrustedOptions(invocation);
    const { place, isNew } = findPlace(invocation, action, options);
    const { store } = await records.complete(options);
    if (store === undefined) throw usageError("Cannot keep quotas without a store; name one with --store");
    let [had, limits]: [QuotaLimits, QuotaLimits] = [{}, {}];
    await changeKeptQuotas(store.kv, user, (before) => (limits = toLimits((had = before))));
    const text = [
      describeLimits(user, limits, Object.keys(had).length === 0 && action === "clear"),
      ...(action === "set" ? await doubtName(user, invocation, store) : []),
      isNew ? `Made the store: ${place}` : `Store: ${place}. Services that use it follow within a second.`,
    ].join("\n");
    const document = { store: place, ...(user === undefined ? { each: true } : { user }), limits };
    return { document, text: toPrintable(text) };
  } finally {
    await records.close();
  }
}

/** A line about a name that may be misspelt. Users of a key server have no token here, so it is no mistake in itself. */
async function doubtName(user: string | undefined, invocation: Invocation, store: Store): Promise<readonly string[]> {
  if (user === undefined || user === localUser || (await findActive(invocation, store)).includes(user)) return [];
  return [`No token has the name ${quote(user)}, and no user of this name has made a call: check the name.`];
}

function describeLimits(user: string | undefined, limits: QuotaLimits, isUnchanged: boolean): string {
  const whose = user === undefined ? "Each user" : `The user ${quote(user)}`;
  if (isUnchanged) return `${whose} had no quotas that were set with kitbag quota: nothing was changed.`;
  const shown = Object.entries(limits).map(([quota, limit]) => `${quota} ${show(quota as QuotaName, limit)}`);
  return `${whose} has ${shown.length === 0 ? "no quotas that are set with kitbag quota" : shown.join(", ")}.`;
}

/** The store that quotas are kept in, for messages, and whether it is made for them. */
function findPlace(
  invocation: Invocation,
  action: string,
  options: Pick<WorkspaceOptions, "store">,
): { readonly place: string; readonly isNew: boolean } {
  const named = findNamedStore(invocation);
  if (named === undefined && options.store !== undefined) {
    return { place: "the store of the configuration", isNew: false };
  }
  const choice = checkKept(named ?? defaultStore(invocation));
  const isNew = choice.kind === "sqlite" && !existsSync(choice.file);
  if (isNew && named === undefined) checkPlace(invocation, action, choice);
  return { place: nameStore(choice), isNew };
}

/**
 * Refuses to make a store in a folder that shows no sign of a service: no service would read its quotas.
 *
 * @throws {KitbagError} `usage-invalid`
 */
function checkPlace(invocation: Invocation, action: string, choice: KeptChoice): void {
  if (choice.kind !== "sqlite" || existsSync(dirname(choice.file)) || findConfig(invocation.cwd) !== undefined) return;
  const amounts = quotaNames.flatMap((name) => {
    const text = getText(invocation.options, name);
    return text === undefined ? [] : [`--${name}`, text];
  });
  const each = isEach(invocation) ? ["--each"] : [];
  const words = ["kitbag", "quota", action, ...invocation.args, ...each, ...amounts, "--store"]
    .map(toShellWord)
    .join(" ");
  const files = [...loadKnownStores(resolveKitbagHome(invocation.env)).values()]
    .map(({ file }) => file)
    .filter(existsSync);
  const commands = files.slice(-3).map((file) => `\n  ${words} ${toShellWord(`sqlite:${file}`)}`);
  const cure = `run it in the folder of the service, or name its store: ${commands.length === 0 ? `${words} sqlite:FILE` : commands.join("")}`;
  throw usageError(toPrintable(`Cannot ${action} quotas: there is no store at ${choice.file}; ${cure}`));
}

function isEach({ options }: Invocation): boolean {
  return options["each"] === true;
}

/** Whose quotas are meant; nothing for those of each user. */
function toUser(invocation: Invocation, action: string, account: string | undefined): string | undefined {
  const [name] = invocation.args;
  if (isEach(invocation)) {
    if (action === "clear" || name === undefined) return undefined;
    throw usageError(`Cannot ${action} quotas of ${quote(name)} and --each: say one of them`);
  }
  if (name !== undefined && /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) {
    throw usageError(`Cannot ${action} quotas of ${quote(name)}: a name has no control characters`);
  }
  if (name !== undefined && name !== "") return createUsers(account).ownerOf(name) ?? localUser;
  throw usageError(`Cannot ${action} quotas: name a user, or say --each for each user`);
}

/** @throws {KitbagError} `usage-invalid` for a value that is no amount of its quota. */
function readLimits({ options }: Invocation): QuotaLimits {
  const limits: { [Name in QuotaName]?: number | "none" } = {};
  for (const name of quotaNames) {
    const text = getText(options, name);
    if (text === undefined) continue;
    const value = text === "none" ? text : toAmount(name, text);
    limits[name] = value;
    const wrong = findWrongLimit(limits, "quotas");
    const units = name === "bytes" ? ", or a size such as 64KiB, 100MB or 2GiB" : "";
    if (wrong !== undefined)
      throw usageError(`Cannot use --${name} ${quote(text)}: expected ${wrong.expected}${units}`);
  }
  return limits;
}

/** How often a unit is multiplied: `kb` is 1000 bytes, `kib` is 1024. */
const powersOf: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };

/** Parses a number; `NaN` for any other text. */
function toAmount(name: QuotaName, text: string): number {
  const [, digits = "", unit, binary] = /^(\d{1,16}(?:\.\d{1,9})?)(?:([kmgt])(i?)b)?$/iu.exec(text) ?? [];
  if (digits === "" || (unit !== undefined && name !== "bytes")) return Number.NaN;
  if (unit === undefined) return Number(digits);
  return Math.round(Number(digits) * (binary === "" ? 1000 : 1024) ** (powersOf[unit.toLowerCase()] as number));
}
