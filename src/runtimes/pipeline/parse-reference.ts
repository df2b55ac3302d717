/** A place that a template or a condition looks at: `$input.list[0].name`. */
export interface Reference {
  /** `input`, `prev`, `item`, `index`, `errors`, or the id of a step. */
  readonly root: string;
  readonly path: readonly (string | number)[];
  /** As it was written, without braces. */
  readonly text: string;
}

/** What {@link parseReference} found, and where it ends. */
export interface FoundReference {
  readonly reference: Reference;
  readonly end: number;
}

/** Plain letters only, so that text in any script may follow at once; other fields are written `["…"]`. */
const name = /[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*/y;
const step = /\.([A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)|\[(\d{1,9})\]|\[("(?:[^"\\\u0000-\u001F]|\\.)*")\]/y;

/** Reads the reference whose name begins at `start`, behind the dollar sign; `undefined` if there is none. */
export function parseReference(text: string, start: number): FoundReference | undefined {
  name.lastIndex = start;
  const root = name.exec(text)?.[0];
  if (root === undefined) return undefined;
  const path: (string | number)[] = [];
  let end = start + root.length;
  for (;;) {
    step.lastIndex = end;
    const [whole, field, index, quoted] = step.exec(text) ?? [];
    const key = field ?? (index === undefined ? unquote(quoted) : Number(index));
    if (whole === undefined || key === undefined) break;
    path.push(key);
    end += whole.length;
  }
  return { reference: { root, path, text: `$${text.slice(start, end)}` }, end };
}

function unquote(quoted: string | undefined): string | undefined {
  if (quoted === undefined) return undefined;
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
