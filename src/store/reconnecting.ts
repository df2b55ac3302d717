/** A connection that is made when it is asked for, and made anew when it was lost. */
export interface Reconnecting<Connection> {
  /** The connection that is open, or a new one. Those who ask at the same time wait for the same one. */
  open(): Promise<Connection>;
  /** Ends the connection that is open, if there is one. */
  end(): Promise<void>;
}

/** How a connection is made and ended. */
export interface ReconnectingOptions<Connection> {
  /** `lose` must be called when the connection was lost; it may be called more than once. */
  connect(lose: () => void): Promise<Connection>;
  end(connection: Connection): Promise<void>;
}

/** Makes a connection that nobody has asked for yet. One that could not be made is tried again by the next who asks. */
export function createReconnecting<Connection>(options: ReconnectingOptions<Connection>): Reconnecting<Connection> {
  let opening: Promise<Connection> | undefined;

  return {
    open() {
      if (opening) return opening;
      const lose = (): void => {
        if (opening === current) opening = undefined;
      };
      const current = options.connect(lose);
      opening = current;
      current.catch(lose);
      return current;
    },
    async end() {
      const connection = await opening?.catch(() => undefined);
      opening = undefined;
      if (connection) await options.end(connection).catch(() => undefined);
    },
  };
}
