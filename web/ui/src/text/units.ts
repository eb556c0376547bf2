// How figures are written. Sizes are as memlog prints them: 27.6 MiB.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytesText(bytes: number): string {
  const sign = bytes < 0 ? '−' : '';
  let rest = Math.abs(bytes);
  let unit = 0;
  // 1023.95 KiB would be written as 1024.0 KiB.
  while (unit < UNITS.length - 1 && rest >= (unit === 0 ? 1024 : 1023.95)) {
    rest /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${sign}${Math.round(rest)} ${rest === 1 ? 'byte' : 'bytes'}`;
  return `${sign}${rest.toFixed(1)} ${UNITS[unit]}`;
}

/** The exact number, for a title. */
export function bytesExact(bytes: number): string {
  return `${countText(bytes)} ${Math.abs(bytes) === 1 ? 'byte' : 'bytes'}`;
}

/** With its sign, of a difference. */
export function bytesChange(bytes: number): string {
  if (bytes === 0) return '±0 bytes';
  return bytes > 0 ? `+${bytesText(bytes)}` : bytesText(bytes);
}

export function countText(count: number): string {
  const digits = Math.abs(Math.round(count)).toString();
  const text = digits.replace(/\B(?=(\d{3})+$)/g, ',');
  return count < 0 ? `−${text}` : text;
}

export function blocksText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'block' : 'blocks'}`;
}

export function countChange(count: number): string {
  if (count === 0) return '±0';
  return count > 0 ? `+${countText(count)}` : countText(count);
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.05) return '<0.1 %';
  return `${percent.toFixed(1)} %`;
}

export function secondsText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 1e-3) return `${trimmed(seconds * 1e6, 1)} µs`;
  if (size < 1) return `${trimmed(seconds * 1e3, 1)} ms`;
  if (size < 60) return `${trimmed(seconds, 3)} s`;
  const whole = Math.round(size);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const sign = seconds < 0 ? '−' : '';
  return hours > 0 ? `${sign}${hours} h ${minutes} min` : `${sign}${minutes} min ${rest} s`;
}

function trimmed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return digits > 0 ? text.replace(/\.?0+$/, '') : text;
}

/** A number of seconds as filters and moments take it, to the microsecond. */
export function secondsExact(seconds: number): string {
  return trimmed(seconds, 6);
}

export function dateText(startUnixNs: number | null | undefined): string {
  if (!startUnixNs) return '–';
  const date = new Date(startUnixNs / 1e6);
  const two = (part: number) => part.toString().padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
