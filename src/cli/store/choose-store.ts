import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { parseServerAddress } from "../../store/server-connection.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { getText } from "../options.ts";
import { toShellWord } from "../render.ts";
import { canBeProject, findProject, ownFolder } from "./find-project.ts";

/** Which store a command uses. */
export type StoreChoice =
  | ({ readonly kind: "sqlite" } & StoreFile)
  | {
      readonly kind: "postgres";
      readonly url: string;
      /** The address for messages: without user and password. */
      readonly shown: string;
    }
  | { readonly kind: "memory" }
  | { readonly kind: "none" };

/** A choice of a store that outlives the command. */
export type KeptChoice = Extract<StoreChoice, { readonly kind: "sqlite" | "postgres" }>;

/** A store in a file. */
export type SqliteChoice = Extract<StoreChoice, { readonly kind: "sqlite" }>;

/** What tells which store a person wants. */
export type StoreFlags = Pick<Invocation, "options" | "env" | "cwd">;

/**
 * The store that the person names, by flag or environment; nothing if neither names one.
 *
 * @throws {KitbagError} `usage-invalid` for anything that is no store. It never repeats a password.
 */
export function findNamedStore({ options, env, cwd }: StoreFlags): StoreChoice | undefined {
  const flag = getText(options, "store");
  const given = flag ?? env["KITBAG_STORE"];
  if (flag === undefined && (given === undefined || given === "")) return undefined;
  return parseStore(given ?? "", flag === undefined ? "KITBAG_STORE" : "--store", cwd);
}

/** The store that is used if none is named. */
export function defaultStore({ env, cwd, makesTools }: Pick<Invocation, "env" | "cwd" | "makesTools">): StoreChoice {
  return { kind: "sqlite", ...findStoreFile(cwd, resolveKitbagHome(env), { makesTools }) };
}

function parseStore(text: string, source: string, cwd: string): StoreChoice {
  if (text === "memory" || text === "none") return { kind: text };
  if (/^postgres(?:ql)?:\/\//u.test(text)) return parsePostgres(text, source);
  const [, path = ""] = /^sqlite:(.*)$/su.exec(text) ?? [];
  if (path !== "" && !path.startsWith(":") && !path.includes("\0")) {
    return { kind: "sqlite", file: resolve(cwd, path), isNamed: true };
  }
  throw usageError(`Cannot use ${source} ${hide(text)}: expected sqlite:FILE, postgres://…, memory or none`);
}

function parsePostgres(url: string, source: string): StoreChoice {
  if (!URL.canParse(url)) throw usageError(`Cannot use ${source} postgres://…: it is no address of a database`);
  return { kind: "postgres", url, shown: parseServerAddress(url, ["postgres:", "postgresql:"], "schema").shown };
}

/** An address of another kind may have a password in it as well. */
function hide(text: string): string {
  return JSON.stringify(text.replace(/:\/\/.*$/su, "://…"));
}

/** A command about a store that can be typed in any folder: it names the file, and the home if that was named. */
export function showAccept(words: string, { file }: SqliteChoice, env: Invocation["env"]): string {
  const home = env["KITBAG_HOME"];
  const prefix = home === undefined ? "" : `KITBAG_HOME=${toShellWord(home)} `;
  return `${prefix}kitbag ${words} --store ${toShellWord(`sqlite:${file}`)}`;
}

/** What a store is called in messages. */
export function nameStore(choice: StoreChoice): string {
  if (choice.kind === "sqlite") return choice.file;
  return choice.kind === "postgres" ? choice.shown : choice.kind;
}

/**
 * Checks that a store in a file is there.
 *
 * @throws {KitbagError} `store-unavailable`
 */
export function checkThere(choice: StoreChoice): void {
  if (choice.kind !== "sqlite" || existsSync(choice.file)) return;
  throw new KitbagError("store-unavailable", {
    store: choice.file,
    reason: "there is no such file",
    cure: "call a tool first, or name another store with --store",
    mayBeWritten: false,
  });
}

/** A file that a store is kept in. */
export interface StoreFile {
  readonly file: string;
  /** The person named it; else it is where it is because of the folder that he works in. */
  readonly isNamed: boolean;
  /** The `.kitbag` of the project that it is in. */
  readonly folder?: string;
}

const fileName = "kitbag.db";

/** What else tells where a store is. */
interface StoreFileOptions {
  /** Tools may be made in the folder, which gives it a `.kitbag`: the store is there from the beginning. @default false */
  readonly makesTools?: boolean | undefined;
}

/** Where the store is by default: in the project, else in the person's own folder. Nothing is made. */
export function findStoreFile(cwd: string, home: string, { makesTools = false }: StoreFileOptions = {}): StoreFile {
  const root = makesTools && canBeProject(cwd) ? cwd : findProject(cwd).root;
  if (root === undefined) return { file: join(home, fileName), isNamed: false };
  const folder = join(root, ownFolder);
  return { file: join(folder, fileName), isNamed: false, folder };
}
