// SPDX-License-Identifier: MIT
//
// Numbers as cstrace's text has them.

const count = new Intl.NumberFormat('en');

export function formatCount(n) {
  return count.format(n);
}

export function plural(n, noun) {
  return `${formatCount(n)} ${noun}${n === 1 ? '' : 's'}`;
}

// Cut, not rounded, as there.
const cut = (value, unit) => `${(Math.floor(value) / 1000).toFixed(3)} ${unit}`;

export function formatDuration(ns) {
  if (ns < 1000) return `${Math.floor(ns)} ns`;
  if (ns < 1e6) return cut(ns, 'us');
  if (ns < 1e9) return cut(ns / 1e3, 'ms');
  return cut(ns / 1e6, 's');
}

// Seconds, as the START column.
export function formatStart(ns) {
  return (Math.floor(ns / 1e3) / 1e6).toFixed(6);
}

// A mark on the ruler, as exact as the step between two of them asks for.
export function formatMark(ns, step) {
  const [unit, size] = step >= 1e8 ? ['s', 1e9] : step >= 1e5 ? ['ms', 1e6]
    : step >= 1e2 ? ['us', 1e3] : ['ns', 1];
  const digits = Math.max(0, Math.ceil(1 - Math.log10(step / size)));
  return `${(ns / size).toFixed(Math.min(digits, 3))} ${unit}`;
}
