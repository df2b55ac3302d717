/** What Node 22 says whenever its SQLite is loaded. */
const warning = /^SQLite is an experimental feature/u;

type EmitWarning = (this: NodeJS.Process, ...words: unknown[]) => void;

let isHidden = false;

/** Keeps Node 22 from telling everybody who keeps a record that its SQLite may change. Every other warning is shown. */
export function hideSqliteWarning(): void {
  if (isHidden) return;
  isHidden = true;
  const emit = process.emitWarning as EmitWarning;
  const emitOther: EmitWarning = (...words) => {
    if (!warning.test(String(words[0]))) emit.apply(process, words);
  };
  process.emitWarning = emitOther;
}
