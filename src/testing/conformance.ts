/** One thing that every driver of a kind must do. It knows no test runner: `run` rejects if the driver does something else. */
export interface ConformanceCheck {
  /** A sentence that begins with what is checked. */
  readonly name: string;
  run(): Promise<void>;
}
