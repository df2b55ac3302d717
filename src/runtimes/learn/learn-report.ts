import type { Permissions } from "../../core/permissions.ts";

/** One thing that a script tried to use and was not given. */
export interface Attempt {
  readonly kind: keyof Permissions;
  /** A path of the host, `host:port`, the name of a variable or of a program. */
  readonly what: string;
  /** It wanted to see what is in a directory. */
  readonly lists?: boolean;
  /** It wanted to make a directory there. */
  readonly makes?: boolean;
  /** The first round in which it was seen; 0 if it is only known from reading the script. */
  readonly round: number;
}

/** One run of a script, and what it was given. */
export interface LearnRound {
  /** Paths that it could read. */
  readonly read: readonly string[];
  /** Why the script failed; nothing if it ended well. */
  readonly failure?: string;
}

/** What a script tried to use, and the least that would let it. */
export interface LearnReport {
  readonly tool: string;
  /** What watched the script. */
  readonly watchedBy: "strace" | "hooks" | "nothing";
  readonly rounds: readonly LearnRound[];
  readonly attempts: readonly Attempt[];
  readonly permissions: Permissions;
  /** What a person should know before granting them. */
  readonly notes: readonly string[];
}

/** Something that a script did, as it was seen from outside or by a hook inside. */
export type Observation =
  | {
      readonly kind: "file";
      /** Absolute. */
      readonly path: string;
      /** `make`: a directory. */
      readonly access: "read" | "write" | "list" | "make";
      readonly failed: boolean;
    }
  | { readonly kind: "program"; readonly path: string; readonly failed: boolean }
  | { readonly kind: "connection"; readonly host: string; readonly port: number }
  | { readonly kind: "variable"; readonly name: string };
