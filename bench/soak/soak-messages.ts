/** What the server of the soak is asked: to begin and to stop with changes, to make one more, and how it is after a collection. */
export type Asked = "begin" | "stop" | "last" | "memory";

/** What it tells, whatever it was asked. */
export interface Told {
  readonly port: number;
  /** How often tools changed since it began. */
  readonly changes: number;
  /** How many tools the forge made. */
  readonly forged: number;
  /** The tools of the workspace, as clients see them. */
  readonly names: readonly string[];
  readonly heapBytes: number;
  readonly rssBytes: number;
}
