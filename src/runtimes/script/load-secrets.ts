import { addLoadedSecrets } from "../../core/loaded-secrets.ts";
import { createRedactor } from "../../core/redactor.ts";
import type { Tool } from "../../core/tool.ts";

/** A value for a name that a tool may see: a text that is hidden wherever it appears, or one that need not be. */
export type SecretValue = string | { readonly value: string; readonly shown: true };

/** Finds the value of a name; nothing if it has no value. */
export type FindSecret = (name: string) => SecretValue | undefined | Promise<SecretValue | undefined>;

/** The values that one call gets. */
export interface Secrets {
  readonly values: Readonly<Record<string, string>>;
  /** Takes those that are hidden out of whatever is shown. */
  readonly show: <Value>(value: Value) => Value;
  /** Takes them out of a text that comes in pieces; the empty piece ends it. */
  readonly showPiece: (piece: string) => string;
  /** Takes them out of one of several messages, also the part of one that goes on in the next message. */
  readonly showMessage: (message: string) => string;
}

const nothing: Secrets = {
  values: Object.freeze({}),
  show: (value) => value,
  showPiece: (piece) => piece,
  showMessage: (message) => message,
};

/** Names that say where things are inside, or what is loaded into a program: a value of the host would only break it, or worse. */
const ownNames =
  /^(?:PATH|HOME|TMPDIR|PWD|SHLVL|ENV|BASH_ENV|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP)|RUBY(?:OPT|LIB)|PERL5(?:OPT|LIB)|KITBAG_\w+|LD_\w+|DYLD_\w+)$/u;

const switches = /^(?:true|false|yes|no|on|off|localhost)$/iu;
const secretName = /AUTH|CODE|CRED|KEY|OTP|PASS|PHRASE|PIN|PWD|SECRET|TOKEN/iu;
/** What is counted or measured. Other short numbers may be codes with which a person pays or logs in. */
const numberName =
  /(?:^|_)(?:PORTS?|COUNT|LIMIT|SIZE|LENGTH|WIDTH|HEIGHT|DEPTH|LEVEL|MAX|MIN|TIMEOUT|INTERVAL|DELAY|RETRIES|WORKERS|THREADS|YEAR|(?:MILLI)?SECONDS|MINUTES|DAYS|MS)$/iu;

/** Ports, counts and switches are no secrets, and hiding them everywhere would change what is true. */
function isPlain(name: string, value: string): boolean {
  if (secretName.test(name)) return false;
  return switches.test(value) || (/^\d{1,5}$/u.test(value) && numberName.test(name));
}

/**
 * Finds the values of all names that a tool may see. A name without a value is left out, and so is one that the sandbox sets
 * itself or that decides what is loaded into a program. What is hidden is hidden in all calls of the process from then on.
 */
export async function loadSecrets(tool: Pick<Tool, "permissions">, find: FindSecret): Promise<Secrets> {
  const names = (tool.permissions.env ?? []).filter((name) => !ownNames.test(name));
  if (names.length === 0) return nothing;
  const found = await Promise.all(names.map(async (name) => [name, await find(name)] as const));
  const values: Record<string, string> = {};
  const hidden: Record<string, string> = {};
  for (const [name, secret] of found) {
    if (secret === undefined) continue;
    values[name] = typeof secret === "string" ? secret : secret.value;
    if (typeof secret === "string" && !isPlain(name, secret)) hidden[name] = secret;
  }
  addLoadedSecrets(hidden);
  const redactor = createRedactor(hidden);
  const stream = redactor?.stream();
  return {
    values,
    show: (value) => redactor?.value(value) ?? value,
    showPiece: (piece) => (stream === undefined ? piece : piece === "" ? stream.flush() : stream.push(piece)),
    showMessage: (message) => redactor?.message(message) ?? message,
  };
}
