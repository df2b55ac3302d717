/** Injected values by name. */
export type InjectedRecord = Readonly<Record<string, unknown>>;

/** What a function that makes injected values gets to know of the call. */
export interface InjectorCall {
  readonly id: string;
  readonly tool: string;
  readonly user?: string;
}

/** Where a workspace has the values from: an object, or a function that makes them for one call. */
export type InjectedSource = InjectedRecord | ((call: InjectorCall) => InjectedRecord | Promise<InjectedRecord>);
