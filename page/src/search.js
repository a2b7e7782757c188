// SPDX-License-Identifier: MIT
//
// Which functions are looked for, and the calls of them one after the other.

import { plural, formatCount } from './format.js';

// A part of a name, or /regex/; capitals count where there are any.
export function matcher(text) {
  const regex = /^\/(.+?)\/?$/.exec(text);

  if (regex) {
    const compiled = new RegExp(regex[1], /[A-Z]/.test(regex[1]) ? '' : 'i');
    return (name) => compiled.test(name);
  }
  if (/[A-Z]/.test(text)) return (name) => name.includes(text);
  return (name) => name.toLowerCase().includes(text);
}

export class Search {
  constructor(trace, names) {
    Object.assign(this, { trace, names });
    this.clear();
  }

  clear() {
    this.flags = null; // by function
    this.hits = new Uint32Array();
    this.text = '';
  }

  // Throws what is wrong with a regular expression.
  find(text) {
    const matches = matcher(text);
    this.take(Uint8Array.from(this.trace.head.functions, (_, fn) => (matches(this.names.fn(fn)) ? 1 : 0)));
  }

  findFunctions(fns) {
    const flags = new Uint8Array(this.trace.head.functions.length);
    for (const fn of fns) flags[fn] = 1;
    this.take(flags);
  }

  take(flags) {
    const { calls, siteFunction, head } = this.trace;
    const bySite = siteFunction.map((fn) => flags[fn]);
    const sums = head.sums.filter(([fn]) => flags[fn]);
    const nCalls = sums.reduce((n, sum) => n + sum[1], 0);
    let n = 0;

    this.flags = flags;
    for (let i = 0; i < calls.n; i++) n += bySite[calls.site[i]];
    this.hits = new Uint32Array(n);
    n = 0;
    for (let i = 0; i < calls.n; i++) if (bySite[calls.site[i]]) this.hits[n++] = i;
    this.text = nCalls ? `${plural(nCalls, 'call')} of ${plural(sums.length, 'function')}` : 'nothing found';
    if (nCalls > this.hits.length) this.text += `, ${formatCount(this.hits.length)} shown`;
  }

  // The hit after `call`, or before it where step is -1; or -1.
  step(call, step) {
    const { hits } = this;
    let low = 0;
    let high = hits.length;

    if (!hits.length) return -1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hits[middle] < call) low = middle + 1;
      else high = middle;
    }
    if (step > 0 && hits[low] === call) low++;
    if (step < 0) low--;
    this.at = (low + hits.length) % hits.length;
    return hits[this.at];
  }

  // What was found, and as which of the hits `call` is one.
  tell(call) {
    const isHit = this.hits.length && this.hits[this.at] === call;
    return isHit ? `${formatCount(this.at + 1)} of ${this.text}` : this.text;
  }
}
