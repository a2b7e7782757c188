// SPDX-License-Identifier: MIT
//
// Calls that a function makes of itself, directly or through others, level upon
// level.  What stands out (an exception, an open call, a stop) is not in a
// recursion, but below it.

export class Recursion {
  constructor(trace, names) {
    const { n, parent, next } = trace.calls;
    const last = new Int32Array(trace.head.functions.length).fill(-1); // open call of a function
    const open = [];

    this.calls = trace.calls;
    this.names = names;
    this.found = new Map(); // by outermost call
    this.above = new Int32Array(n); // the nearest caller that is of the same function, or -1
    this.isInner = new Uint8Array(n); // it is in the row of another call
    this.hasInner = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      while (open.length && next[open.at(-1)] <= i) {
        const done = open.pop();
        last[names.functionOf(done)] = this.above[done];
      }
      const fn = names.functionOf(i);
      this.above[i] = last[fn];
      if (last[fn] >= 0 && !names.isOdd(i)) {
        this.isInner[i] = 1;
        this.hasInner[this.outermost(last[fn])] = 1;
      }
      if (next[i] === i + 1) continue;
      last[fn] = i;
      open.push(i);
    }
  }

  outermost(call) {
    let i = call;

    while (this.isInner[i]) i = this.above[i];
    return i;
  }

  // Of the outermost call: how many calls it stands for, on how many levels,
  // their own time, and what they call beside themselves.  Undefined if it
  // does not call itself.
  of(call) {
    if (!this.hasInner[call]) return undefined;
    if (!this.found.has(call)) this.found.set(call, this.find(call));
    return this.found.get(call);
  }

  find(call) {
    const { next, parent } = this.calls;
    const { above, isInner } = this;
    const found = { n: 1, levels: 1, self: this.names.self(call), calls: [] };
    const level = new Map([[call, 1]]); // of those that it stands for

    for (let i = call + 1; i < next[call]; i++) {
      if (isInner[i] && level.has(above[i])) {
        level.set(i, level.get(above[i]) + 1);
        found.n++;
        found.levels = Math.max(found.levels, level.get(i));
        found.self += this.names.self(i);
      } else if (!isInner[i] && level.has(parent[i])) {
        found.calls.push(i);
      }
    }
    return found;
  }
}
