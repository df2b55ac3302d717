import { usageError } from "../usage-error.ts";

/** Where a script shall stop, as a person writes it. */
export interface BreakWords {
  /** Missing: the file where it is stopped. */
  readonly file?: string;
  readonly line: number;
  readonly condition?: string;
}

/** Reads `scripts/a.py:12`, `12` or `12 if count > 3`; nothing if it is none of them. */
export function parseBreak(text: string): BreakWords | undefined {
  const [, file, digits, condition] = /^(?:(\S.*?):)?(\d{1,7})(?:\s+if\s+(\S.*))?$/u.exec(text.trim()) ?? [];
  const line = Number(digits ?? 0);
  if (line === 0) return undefined;
  return { line, ...(file !== undefined && { file }), ...(condition !== undefined && { condition }) };
}

/** Reads the values of `--break`. @throws {KitbagError} `usage-invalid` for one that is no place. */
export function parseBreaks(values: readonly string[]): readonly BreakWords[] {
  return values.map((value) => {
    const found = parseBreak(value);
    if (found !== undefined) return found;
    throw usageError(
      `Cannot use --break ${value}: expected a file and a line, as in scripts/a.py:12, or "scripts/a.py:12 if n > 3"`,
    );
  });
}
