/** Acknowledges what is not on disk: what the test of `strace` must find. */
import { writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [file = "", , count = "0"] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE records (value TEXT)");
const insert = database.prepare("INSERT INTO records VALUES (?)");
for (let number = 1; number <= Number(count); number++) {
  insert.run(`record ${number}`);
  writeSync(1, `log ${number}\n`);
}
database.close();
