/** What a run is stopped with when its time is up. */
export const timeIsUp = new DOMException("The time of the run is up", "TimeoutError");

/** Why a run was stopped whose signal is aborted. */
export function toStopReason({ reason }: AbortSignal): "time" | "cancelled" {
  return reason === timeIsUp ? "time" : "cancelled";
}
