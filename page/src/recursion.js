// SPDX-License-Identifier: MIT
//
// Calls that a function makes of itself, level upon level.  What stands out (an
// exception, an open call, a stop) is not in a recursion, but below it.

export class Recursion {
  constructor(trace, names) {
    const { n, parent } = trace.calls;

    this.calls = trace.calls;
    this.names = names;
    this.found = new Map(); // by outermost call
    // Whether a call is one of a function by itself.
    this.isInner = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      const above = parent[i];
      if (above < 0 || names.functionOf(above) !== names.functionOf(i)) continue;
      this.isInner[i] = names.isOdd(i) ? 0 : 1;
    }
  }

  outermost(call) {
    let i = call;

    while (this.isInner[i]) i = this.calls.parent[i];
    return i;
  }

  // Of the outermost call: how many calls it stands for, on how many levels,
  // their own time, and what they call beside themselves.  Undefined if it
  // does not call itself.
  of(call) {
    const { next } = this.calls;

    if (this.isInner[call] || next[call] === call + 1) return undefined;
    if (!this.found.has(call)) this.found.set(call, this.find(call));
    return this.found.get(call);
  }

  find(call) {
    const { next, depth } = this.calls;
    const found = { n: 1, levels: 1, self: this.names.self(call), calls: [] };

    for (let i = call + 1; i < next[call];) {
      if (this.isInner[i]) {
        found.n++;
        found.levels = Math.max(found.levels, depth[i] - depth[call] + 1);
        found.self += this.names.self(i);
        i++;
      } else {
        found.calls.push(i);
        i = next[i];
      }
    }
    return found.n > 1 ? found : undefined;
  }
}
