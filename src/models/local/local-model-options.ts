/** What `localModel` takes. */
export interface LocalModelOptions {
  /**
   * The day that "tomorrow" counts from, as `2026-05-03`. @default what the system text says ("Today is 2026-05-03"); if it says
   * nothing, such words are passed on as they are, or asked about
   */
  readonly today?: string;
}
