// SPDX-License-Identifier: MIT
//
// The stacks of the trace as one folded tree: a node for each path of
// functions, with its calls and times.  A call of a function that is on the
// path already is folded into the node above that has it, so no path has a
// function twice and its time counts once.  `cstrace graph` does the same.

const byTotal = (a, b) => b.total - a.total || b.calls - a.calls || a.fn - b.fn;

function newNode(fn, above) {
  return {
    fn, above, calls: 0, total: 0, self: 0, stopped: 0, ownStops: 0, isRecursive: false, nOpen: 0, groups: new Map(),
    below: [],
  };
}

function nodeIn(groups, fn, above) {
  let node = groups.get(fn);

  if (!node) {
    node = newNode(fn, above);
    groups.set(fn, node);
  }
  return node;
}

// The nodes of a level in order, and of all below.
function settle(groups) {
  const nodes = [...groups.values()].sort(byTotal);
  const open = [...nodes];

  while (open.length) {
    const node = open.pop();
    node.below = [...node.groups.values()].sort(byTotal);
    delete node.groups;
    for (const below of node.below) open.push(below);
  }
  return nodes;
}

export class CallGraph {
  // instants: functions that are none, but exceptions, messages and the like.
  constructor(stacks, instants) {
    this.stacks = stacks;
    this.instants = instants;
    this.all = 0; // ns
    for (let i = 0; i < stacks.n; i++) if (stacks.parent[i] < 0) this.all += stacks.total[i];
  }

  // Calls enter(i) for each stack, and leave(i) behind all that are below it.
  walk(enter, leave) {
    const { n, parent } = this.stacks;
    const first = new Int32Array(n).fill(-1); // of those below it
    const next = new Int32Array(n).fill(-1); // with the same parent
    let roots = -1;
    const open = [];

    for (let i = n - 1; i >= 0; i--) {
      const above = parent[i];
      next[i] = above < 0 ? roots : first[above];
      if (above < 0) roots = i;
      else first[above] = i;
    }
    for (let i = roots; i >= 0;) {
      enter(i);
      open.push(i);
      i = first[i];
      while (i < 0 && open.length) {
        const done = open.pop();
        leave(done);
        i = next[done];
      }
    }
  }

  // What a stack adds to a node.
  add(node, i) {
    const { calls, self, stopped, ownStops } = this.stacks;

    node.calls += calls[i];
    node.self += self[i];
    node.stopped += stopped[i];
    node.ownStops += ownStops[i];
  }

  // The outermost nodes; of one function, itself with all that it calls,
  // merged over all places where it is called.
  tree(root = -1) {
    const { n, parent, fn, calls, total } = this.stacks;
    const at = new Array(n).fill(null); // node of a stack
    const roots = new Map();

    this.walk((i) => {
      const above = parent[i] < 0 ? null : at[parent[i]];
      if (this.instants.has(fn[i]) || (!above && root >= 0 && fn[i] !== root)) return;
      let same = above;
      while (same && same.fn !== fn[i]) same = same.above;
      const node = same ?? nodeIn(above ? above.groups : roots, fn[i], above);
      at[i] = node;
      this.add(node, i);
      // Folding may lead to a node again that a caller has entered.
      if (!node.nOpen) node.total += total[i];
      node.nOpen++;
      // A row of its own for the recursion, with nothing but its number.
      if (same) {
        const recursion = nodeIn(above.groups, fn[i], above);
        recursion.isRecursive = true;
        recursion.calls += calls[i];
      }
    }, (i) => {
      if (at[i]) at[i].nOpen--;
    });
    return settle(roots);
  }

  // The function's callers, and theirs: each with the calls and times that the
  // function had when it was called that way.
  callers(fn) {
    const { n, parent, fn: fns, total } = this.stacks;
    const isWithin = new Uint8Array(n); // the function, or below it
    const roots = new Map();

    for (let i = 0; i < n; i++) {
      const isBelow = parent[i] >= 0 && isWithin[parent[i]];
      isWithin[i] = isBelow || fns[i] === fn ? 1 : 0;
      if (fns[i] !== fn) continue;
      const seen = new Set([fn]);
      let node = null;
      for (let above = parent[i]; above >= 0; above = parent[above]) {
        if (seen.has(fns[above])) continue;
        seen.add(fns[above]);
        node = nodeIn(node ? node.groups : roots, fns[above], node);
        this.add(node, i);
        if (!isBelow) node.total += total[i];
      }
    }
    return settle(roots);
  }

  // What is called on one stack, not folded.
  below(stack) {
    const { n, parent, fn, calls, total, self } = this.stacks;
    const nodes = [];

    for (let i = stack + 1; i < n; i++) {
      if (parent[i] === stack && !this.instants.has(fn[i])) nodes.push({ fn: fn[i], calls: calls[i], total: total[i], self: self[i] });
    }
    return nodes.sort(byTotal);
  }
}
