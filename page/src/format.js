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

// What the mark beside a time means.
export const STOPPED = 'with a stop at gdb\'s prompt, which takes time itself';

// Digits are cut off, not rounded, as in cstrace's text.
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
  const most = Math.max(ns, step);
  const [unit, size] = most >= 1e9 ? ['s', 1e9] : most >= 1e6 ? ['ms', 1e6]
    : most >= 1e3 ? ['us', 1e3] : ['ns', 1];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return ns === 0 ? '0' : `${(ns / size).toFixed(Math.min(digits, 9))} ${unit}`;
}

export function formatShare(share) {
  return `${(share * 100).toFixed(1)}%`;
}
