// Jalali and Gregorian days without a table. A day is the UTC midnight in milliseconds.
const PERSIAN = new Intl.DateTimeFormat("en-u-ca-persian-nu-latn", {
  year: "numeric",
  month: "numeric",
  day: "numeric",
  timeZone: "UTC",
});
export const DAY = 86400000;
const JALALI_BELOW = 1700;

export function toJalali(time) {
  const parts = {};
  for (const part of PERSIAN.formatToParts(new Date(time))) {
    if (part.type !== "literal") {
      parts[part.type === "relatedYear" ? "year" : part.type] = parseInt(part.value, 10);
    }
  }
  return [parts.year, parts.month, parts.day];
}

// NaN when there is no such day.
export function fromJalali(year, month, day) {
  const estimate =
    Date.UTC(year + 621, 2, 21) + ((month <= 7 ? (month - 1) * 31 : 186 + (month - 7) * 30) + day - 1) * DAY;
  for (let shift = -2; shift <= 2; shift += 1) {
    const [y, m, d] = toJalali(estimate + shift * DAY);
    if (y === year && m === month && d === day) {
      return estimate + shift * DAY;
    }
  }
  return NaN;
}

export function toGregorian(time) {
  const date = new Date(time);
  return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
}

export function fromGregorian(year, month, day) {
  const time = Date.UTC(year, month - 1, day);
  const [y, m, d] = toGregorian(time);
  return y === year && m === month && d === day ? time : NaN;
}

// The day somebody typed (Latin digits), Jalali below the year 1700; NaN when it is not a day.
export function parseDay(text) {
  const match = /^\s*(\d{4})[/.-](\d{1,2})[/.-](\d{1,2})/.exec(text);
  if (!match) {
    return NaN;
  }
  const [year, month, day] = match.slice(1).map(Number);
  return year < JALALI_BELOW ? fromJalali(year, month, day) : fromGregorian(year, month, day);
}
