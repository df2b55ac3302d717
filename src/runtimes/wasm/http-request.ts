/** A request that a module makes through its host. */
export interface WasmHttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came back. */
export interface WasmHttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Makes requests for modules.
 *
 * **Contract**: it reaches nothing but what `hosts`, the tool's network permission, allows, follows no redirect elsewhere, and
 * rejects with a `KitbagError` otherwise.
 */
export type SendHttp = (
  request: WasmHttpRequest,
  options: { readonly tool: string; readonly hosts: readonly string[]; readonly signal: AbortSignal },
) => Promise<WasmHttpResponse>;
