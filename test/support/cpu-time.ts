/** Milliseconds of processor time that this process has used since `start`. What other programs do at the same time does not count. */
export function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
