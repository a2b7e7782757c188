// SPDX-License-Identifier: MIT
//
// Colours, in light and in dark.  The groups of functions that took the most
// time have a hue each, which the legend tells; within a group functions
// differ a little in lightness.

const dark = window.matchMedia('(prefers-color-scheme: dark)');

// Neighbours differ, for those who see few colours as well.
const HUES = [212, 28, 150, 332, 265, 48, 96, 300, 8, 236, 70];
const SPAN_HUE = 182; // no function's
const MIN_GROUPS = 3; // fewer do not tell functions apart

export function hash(text) {
  let h = 2166136261;

  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ (h >>> 16), 2246822507);
  return (h ^ (h >>> 13)) >>> 0;
}

// The groups that `of(fn)` names, the most self time first: { name, self, fns,
// isNamed }.
function groupsBy(of, sums) {
  const groups = new Map();

  for (const [fn, , , self] of sums) {
    const name = of(fn);
    if (!groups.has(name)) groups.set(name, { name, self: 0, fns: [] });
    const group = groups.get(name);
    group.self += self;
    group.fns.push(fn);
  }
  const sorted = [...groups.values()].sort((a, b) => b.self - a.self || b.fns.length - a.fns.length);

  sorted.forEach((group, i) => { group.isNamed = i < HUES.length; });
  return sorted;
}

const SAID = new Set(['log', 'count', 'async']);

export class Colors {
  constructor(trace, names) {
    this.spans = trace.head.spans;
    const spans = new Set(this.spans);
    const sums = trace.head.sums.filter(([fn]) => !spans.has(fn));

    this.hashes = trace.head.functions.map((_, fn) => hash(names.full(fn)));
    this.ways = {
      group: groupsBy((fn) => names.group(fn), sums),
      function: groupsBy((fn) => names.fn(fn), sums),
    };
    this.instants = trace.instants;
    this.changed = () => {};
    this.usual = this.ways.group.length >= MIN_GROUPS ? 'group' : 'function';
    this.by(this.usual);
    dark.addEventListener('change', () => this.by(this.way));
  }

  // What has a colour of its own: a 'group' or a 'function'.
  by(way) {
    this.way = way;
    this.groups = this.ways[way];
    this.choose();
    this.changed();
  }

  choose() {
    const isDark = dark.matches;
    const place = new Map();

    this.groups.forEach(({ fns, isNamed }, i) => {
      if (isNamed) fns.forEach((fn) => place.set(fn, i));
    });
    this.all = this.hashes.map((h, fn) => this.shade(place.get(fn) ?? HUES.length, h, isDark));
    for (const fn of this.spans) this.all[fn] = this.tone(SPAN_HUE, isDark ? 46 : 62, this.hashes[fn], isDark);
    this.span = this.tone(SPAN_HUE, isDark ? 46 : 62, 0, isDark);
    this.thrown = isDark ? '#ff6b60' : '#c5221f';
    this.unwound = isDark ? '#ffa657' : '#d9640a';
    this.caught = isDark ? '#5bb974' : '#188038';
    this.said = isDark ? '#79b8ff' : '#1a56c4';
    for (const [fn, word] of this.instants) {
      this.all[fn] = word === 'catch' ? this.caught : SAID.has(word) ? this.said : this.thrown;
    }
    this.track = isDark ? 'rgba(121,184,255,0.14)' : 'rgba(26,86,196,0.10)';
    this.groups.forEach((group, i) => { group.color = this.shade(i, hash(group.name), isDark); });
    this.other = this.shade(HUES.length, 0, isDark);
    this.faint = isDark ? '#2b2e33' : '#e6e7ea'; // not a hit
    this.more = isDark ? '#23262a' : '#eff0f2'; // callees that are left out
    this.many = isDark ? '#77808f' : '#8690a4'; // too small to tell apart
    this.manyHits = isDark ? '#d29922' : '#be8700';
    this.text = isDark ? '#f0f1f3' : '#16181d';
    this.ontop = isDark ? 'rgba(255,255,255,0.88)' : 'rgba(0,0,0,0.7)'; // of boxes
    this.dim = isDark ? '#9aa0a8' : '#5c6470';
    this.back = isDark ? '#17191c' : '#ffffff';
    this.panel = isDark ? '#1f2226' : '#f5f6f8';
    this.line = isDark ? 'rgba(255,255,255,0.09)' : 'rgba(0,0,0,0.08)';
    this.bar = isDark ? 'rgba(255,255,255,0.25)' : 'rgba(0,0,0,0.25)';
    this.veil = isDark ? 'rgba(15,16,18,0.66)' : 'rgba(235,237,241,0.76)';
    this.stroke = isDark ? '#ffffff' : '#0b57d0';
    this.stopped = isDark ? '#c58af9' : '#8430ce';
    this.open = isDark ? '#e6e6e6' : '#16181d';
  }

  tone(hue, saturation, h, isDark) {
    return `hsl(${hue} ${saturation}% ${(isDark ? 24 : 74) + (h >>> 9) % 8}%)`;
  }

  shade(place, h, isDark) {
    if (place < HUES.length) return this.tone(HUES[place], isDark ? 38 : 66, h, isDark);
    return `hsl(220 8% ${(isDark ? 27 : 83) + ((h >>> 9) % 8) / 2}%)`;
  }
}
