import type { Diagnostic } from "../../core/diagnostics.ts";
import { documentRules, type DocumentCode } from "./rules.ts";
import type { Position } from "./positions.ts";

/** Collects what there is to say about one file. */
export interface Reporter {
  /** The specification is applied to the letter. */
  readonly spec: boolean;
  report(code: DocumentCode, message: string, where?: Position, cure?: string): void;
  /** Everything reported so far, in order. */
  list(): readonly Diagnostic[];
}

/** How many findings of one code are listed; the rest is counted. */
const mostOfOneCode = 20;

/** Makes a reporter for `file`. Contract: `list` is bounded, however much is reported. */
export function createReporter(file: string, spec = false): Reporter {
  const diagnostics: Diagnostic[] = [];
  const counts = new Map<DocumentCode, number>();
  const firstUnlisted = new Map<DocumentCode, Position | undefined>();

  return {
    spec,
    report(code, message, where, cure) {
      const severity = documentRules[code][spec ? "spec" : "lenient"];
      if (severity === "off") return;
      const count = (counts.get(code) ?? 0) + 1;
      counts.set(code, count);
      if (count === mostOfOneCode + 1) firstUnlisted.set(code, where);
      if (count > mostOfOneCode) return;
      diagnostics.push({ severity, code, message, file, ...where, ...(cure !== undefined && { cure }) });
    },
    list() {
      const rest = Array.from(firstUnlisted, ([code, where]): Diagnostic => {
        const message = `${(counts.get(code) ?? 0) - mostOfOneCode} more of this kind are not listed`;
        return { severity: "info", code, message, file, ...where };
      });
      return rest.length === 0 ? diagnostics : [...diagnostics, ...rest];
    },
  };
}
