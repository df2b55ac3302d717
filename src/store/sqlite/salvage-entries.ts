import { describeLoss, isJson, readUndamaged, showShare, type Sides } from "./salvage-table.ts";
import { salvageRows } from "./salvage-rows.ts";

/** Copies the entries of all streams, whose names are there already, and answers how many. */
export function salvageEntries(sides: Sides): number {
  const { source, target, lost } = sides;
  const insert = target.prepare("INSERT OR IGNORE INTO entries (stream, position, time, value) VALUES (?, ?, ?, ?)");
  let count = 0;
  let failures = 0;
  for (const { stream, position, time, value } of salvageRows(source, "entries", () => (failures += 1))) {
    if (!isJson(value)) continue;
    count += Number(insert.run(stream ?? null, position ?? null, time ?? null, value).changes);
  }
  target.exec(
    "INSERT INTO streams (id, name) SELECT DISTINCT stream, 'lost:' || stream FROM entries WHERE stream NOT IN (SELECT id FROM streams)",
  );
  const isKnown = tellMissing(sides);
  if (failures > 0 && !isKnown) lost.push(describeLoss(source, "entries", count));
  fillGaps(sides);
  target.exec("DELETE FROM streams WHERE id NOT IN (SELECT stream FROM entries)");
  return count;
}

/** Says what each stream has lost, also at its end; answers whether the damaged file still knows where all of them ended. */
function tellMissing({ source, target, lost }: Sides): boolean {
  const streams = target.prepare(
    `SELECT id, name, count(position) AS count, coalesce(max(position), 0) AS last
     FROM streams LEFT JOIN entries ON entries.stream = streams.id GROUP BY id`,
  );
  const find = source.prepare(
    "SELECT coalesce(max(position), 0) AS last FROM entries INDEXED BY entries_position WHERE stream = ?",
  );
  let isKnown = true;
  for (const { id, name, count, last } of streams.all()) {
    const known = readUndamaged(() => find.get(id ?? null)?.["last"]);
    if (known === undefined) isKnown = false;
    const length = Math.max(Number(last), Number(known ?? 0));
    const missing = length - Number(count);
    if (missing > 0) lost.push(`${showShare(missing, length, "entries")} of "${String(name)}"`);
    // Every stream has an entry: it is made with the first.
    if (length === 0) lost.push(`all entries of "${String(name)}"`);
  }
  return isKnown;
}

/** Positions count from 1 without gaps, and what follows a lost entry must keep its own. */
function fillGaps({ target }: Sides): void {
  const streams = target.prepare(
    "SELECT stream, max(position) AS last FROM entries GROUP BY stream HAVING max(position) <> count(*)",
  );
  const insert = target.prepare("INSERT OR IGNORE INTO entries (stream, position, time, value) VALUES (?, ?, 0, ?)");
  for (const { stream, last } of streams.all()) {
    for (let position = 1; position <= Number(last); position++) insert.run(stream ?? null, position, '{"lost":true}');
  }
}
