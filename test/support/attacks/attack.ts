import type { ErrorCode } from "../../../src/core/errors.ts";
import type { Guarantee } from "../../../src/sandbox/sandbox.ts";
import type { Bait } from "./bait.ts";

/**
 * One way to break out, to break in, or to break something. Its code says `escaped …` for whatever works that must not, and ends
 * well if it has got nowhere.
 */
export interface Attack {
  /** What it does: "reads /etc/shadow". */
  readonly name: string;
  readonly language: "bash" | "python";
  readonly code: string | ((bait: Bait) => string);
  /** A Bash program that another call runs before it. */
  readonly earlier?: string;
  /** A Bash program that another call runs at the same time; it says `ready`, and ends well if nothing happens to it. */
  readonly sibling?: string;
  /** With one of these it must fail. @default it must end well, having got nowhere */
  readonly fails?: readonly ErrorCode[];
  /** It may also get nowhere and end well. @default it must, if it must not fail */
  readonly mayEndWell?: boolean;
  /** It is given little time. @default false */
  readonly isBrief?: boolean;
  /** What holds it back, if not every sandbox promises that: one that does not may let it have its way inside. */
  readonly against?: Guarantee;
  /** What is otherwise in firejail, whose processes and files are the host's own more than those of the others. */
  readonly firejail?: Partial<Pick<Attack, "code" | "fails" | "mayEndWell">>;
  /** What it did to the host. */
  readonly harm?: (bait: Bait) => string | undefined;
}

/** Whether it cannot be made without Python. */
export function needsPython({ language, code, sibling = "" }: Attack): boolean {
  return language === "python" || `${String(code)}${sibling}`.includes("python3");
}

const prelude = {
  bash: `
escaped() { echo "ESCAPED: $*"; }
try() { if ("$@") >/dev/null 2>&1; then escaped "$@"; fi; }
`,
  python: `
import ctypes, os, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def escaped(*what): print("ESCAPED:", *what, flush=True)
def kernel(name, number, *words):
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) if isinstance(word, int) else word for word in words]) >= 0:
        escaped(name)
def attempt(what, action, *words):
    try: answer = action(*words)
    except (OSError, ValueError): return None
    escaped(what, repr(answer)[:80])
    return answer
`,
};

const ending = { bash: "\necho contained\n", python: '\nprint("contained", flush=True)\n' };

/** The whole program of an attack. */
export function toProgram({ language, code }: Pick<Attack, "language" | "code">, bait: Bait): string {
  return prelude[language] + (typeof code === "string" ? code : code(bait)) + ending[language];
}
