import { existsSync } from "node:fs";

/**
 * As the first process of a container this one would have to gather every process whose parent has ended, which Node does not do: they would
 * pile up. A shell takes its place, gathers them, hands on signals, and ends as this command ends.
 */
const gather = `exec 3<&0
"$@" <&3 3<&- &
child=$!
for signal in TERM INT HUP USR1 USR2; do trap "kill -$signal $child" $signal; done
while :; do
  wait $child; code=$?
  kill -0 $child 2>/dev/null || exit $code
done`;

/** Puts a shell in the place of this process, which starts the command again below it. Goes on if that cannot be done. */
export function leaveFirstProcess(): void {
  const shell = "/bin/sh";
  if (process.execve === undefined || !existsSync(shell)) return;
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(shell, ["sh", "-c", gather, "kitbag", ...again], process.env);
}
