import type { Mount } from "../../sandbox/sandbox.ts";
import type { Family } from "./families.ts";

/** A program that runs scripts, as it is inside. */
export interface Interpreter {
  readonly family: Family;
  /** Its path inside. */
  readonly program: string;
  /** Its first arguments; the script's path follows. */
  readonly argv: readonly string[];
  /** What must be inside for it, beside the system's libraries. */
  readonly mounts: readonly Mount[];
  /** Programs of the system that it needs inside. */
  readonly programs: readonly string[];
  /** The script is the program: its path does not follow. */
  readonly isScript?: boolean;
}
