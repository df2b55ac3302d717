/** A time for a person, in his own time zone: `2026-11-16 03:40:02`. */
export function showTime(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "?";
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}
