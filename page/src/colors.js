// SPDX-License-Identifier: MIT
//
// A colour for each function, the same in all views, in light and in dark.

const dark = window.matchMedia('(prefers-color-scheme: dark)');

function hash(text) {
  let h = 2166136261;

  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ (h >>> 16), 2246822507);
  return (h ^ (h >>> 13)) >>> 0;
}

export class Colors {
  constructor(names) {
    this.hashes = names.map(hash);
    this.choose();
    this.changed = () => {};
    dark.addEventListener('change', () => {
      this.choose();
      this.changed();
    });
  }

  choose() {
    const isDark = dark.matches;
    this.all = this.hashes.map((h) => {
      const hue = h % 360;
      const light = isDark ? 28 + (h >>> 9) % 9 : 72 + (h >>> 9) % 9;
      return `hsl(${hue} ${isDark ? 42 : 62}% ${light}%)`;
    });
    this.faint = isDark ? '#2b2e33' : '#e6e7ea'; // not a hit
    this.more = isDark ? '#23262a' : '#eff0f2'; // callees that are left out
    this.many = isDark ? '#4b5563' : '#b6bcc8'; // too small to tell apart
    this.manyHits = isDark ? '#d29922' : '#e0a100';
    this.text = isDark ? '#e6e6e6' : '#16181d';
    this.dim = isDark ? '#9aa0a8' : '#5c6470';
    this.back = isDark ? '#17191c' : '#ffffff';
    this.line = isDark ? 'rgba(255,255,255,0.09)' : 'rgba(0,0,0,0.08)';
    this.bar = isDark ? 'rgba(255,255,255,0.25)' : 'rgba(0,0,0,0.25)';
    this.stroke = isDark ? '#ffffff' : '#0b57d0';
  }
}
