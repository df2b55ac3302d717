/** Copies a store, and says on stdout how large the copy is. */
import { backupSqlite } from "../../../src/store/sqlite/backup-sqlite.ts";

const [file = "", to = "", notes = ""] = process.argv.slice(2);
console.log(`copied ${await backupSqlite(file, to, notes)}`);
