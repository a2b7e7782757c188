// SPDX-License-Identifier: MIT
//
// What a flame chart draws: boxes in rows (lane and level), each row in order
// of start, none over another.  Drawing one row costs the pixels that it is
// wide, however many boxes it has: those below a pixel are skipped.

// A row's boxes are order[from] to order[to - 1].
class Row {
  constructor(from, to) {
    this.from = from;
    this.to = to;
  }
}

export class Boxes {
  // start and duration by box; lanes: { first, n, depth, title }; level by box.
  constructor({ start, duration, level, lanes, fn }) {
    this.start = start;
    this.duration = duration;
    this.level = level;
    this.fn = fn; // function of a box
    this.order = new Uint32Array(start.length);
    this.lanes = lanes.map((lane) => ({ ...lane, rows: this.sortRows(lane) }));
    this.hits = null; // before each place in order, how many are hits
    this.min = Infinity;
    this.max = 0;
    for (let i = 0; i < start.length; i++) {
      this.min = Math.min(this.min, start[i]);
      this.max = Math.max(this.max, start[i] + duration[i]);
    }
    if (!(this.min < this.max)) {
      this.min = Math.min(this.min, this.max);
      this.max = this.min + 1;
    }
  }

  sortRows({ first, n, depth }) {
    const at = new Uint32Array(depth + 1);

    for (let i = first; i < first + n; i++) at[this.level[i] + 1]++;
    at[0] = first;
    for (let i = 0; i < depth; i++) at[i + 1] += at[i];
    const rows = Array.from({ length: depth }, (_, i) => new Row(at[i], at[i + 1]));
    for (let i = first; i < first + n; i++) this.order[at[this.level[i]]++] = i;
    return rows;
  }

  endOf(box) {
    return this.start[box] + this.duration[box];
  }

  // The first place of the row, from `from` on, whose box ends after `time`.
  seek(row, from, time) {
    let low = from;
    let step = 1;

    while (low < row.to && this.endOf(this.order[low]) <= time) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low, row.to);
    low = Math.max(from, low - step / 2);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.endOf(this.order[middle]) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The box at this time, or within `slack` of it; or -1.
  find(row, time, slack) {
    const at = this.seek(row, row.from, time - slack);

    if (at === row.to) return -1;
    const box = this.order[at];
    return this.start[box] <= time + slack ? box : -1;
  }

  // The place of a box in its row.
  placeOf(row, box) {
    let low = row.from;
    let high = row.to - 1;

    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.order[middle];
      if (this.start[other] < this.start[box] || (this.start[other] === this.start[box] && other < box)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The box above, or beside it in its row, or the first below it; or -1.
  near(lane, box, key) {
    const level = this.level[box];
    const row = lane.rows[level];

    if (key === 'ArrowUp') return level ? this.find(lane.rows[level - 1], this.start[box], 0) : -1;
    if (key === 'ArrowDown') {
      const below = lane.rows[level + 1];
      const at = below ? this.seek(below, below.from, this.start[box]) : 0;
      return below && at < below.to && this.start[this.order[at]] < this.endOf(box) ? this.order[at] : -1;
    }
    const at = this.placeOf(row, box) + (key === 'ArrowLeft' ? -1 : 1);
    return at >= row.from && at < row.to ? this.order[at] : -1;
  }

  // A row from left to right, where a nanosecond is `zoom` pixels and `start`
  // at the left: wide(box, place, x, w) for each box of a pixel or more,
  // narrow(from, to, pixel) for the places of those that share one.
  walk(row, { start, zoom, width }, wide, narrow) {
    const end = start + width / zoom;
    let at = this.seek(row, row.from, start);

    while (at < row.to) {
      const box = this.order[at];
      const x = (this.start[box] - start) * zoom;
      const w = this.duration[box] * zoom;
      if (this.start[box] > end) break;
      if (w >= 1) {
        wide(box, at, x, w);
        at++;
        continue;
      }
      const pixel = Math.floor(x);
      const next = this.seek(row, at + 1, start + (pixel + 1) / zoom);
      narrow(at, next, pixel);
      at = next;
    }
  }

  // The colour of the boxes at these places, which share a pixel.  They may be
  // thousands: three of them speak for all.
  colorOf(colors, from, to) {
    const fn = this.fn(this.order[from]);
    const isOne = [(from + to) >> 1, to - 1].every((at) => this.fn(this.order[at]) === fn);
    const n = this.hits ? this.countHits(from, to) : to - from;

    if (!n) return colors.faint;
    if (isOne && n === to - from) return colors.all[fn];
    return this.hits ? colors.manyHits : colors.many;
  }

  // flags by function, or null.
  mark(flags) {
    this.hits = null;
    this.flags = flags;
    if (!flags) return;
    this.hits = new Uint32Array(this.order.length + 1);
    for (let i = 0; i < this.order.length; i++) {
      this.hits[i + 1] = this.hits[i] + flags[this.fn(this.order[i])];
    }
  }

  countHits(from, to) {
    return this.hits[to] - this.hits[from];
  }
}

export function boxesOfCalls(trace, names) {
  const { calls, lanes } = trace;
  const boxes = new Boxes({
    start: calls.start,
    duration: calls.duration,
    level: calls.depth,
    lanes: lanes.map((lane) => ({ ...lane, title: names.lane(lane) })),
    fn: (call) => trace.siteFunction[calls.site[call]],
  });

  boxes.hasMore = (call) => calls.without.has(call);
  // What it is marked with: a colour's name.
  boxes.markOf = (call) => (names.isUnwound(call) ? 'unwound' : names.isOpen(call) ? 'open'
    : names.isStopped(call) ? 'stopped' : '');
  boxes.tracks = names.tracks();
  // They take no time, and are to be seen all the same.
  boxes.moments = [];
  if (trace.instants.size) {
    for (let i = 0; i < calls.n; i++) if (names.instant(i)) boxes.moments.push(i);
  }
  return boxes;
}

// The longest callee comes first.  A stack that took no time has no width.
export function boxesOfStacks(stacks) {
  const { n, parent, total } = stacks;
  const start = new Float64Array(n);
  const level = new Uint32Array(n);
  const free = new Float64Array(n + 1); // by parent + 1
  const longest = Uint32Array.from({ length: n }, (_, i) => i);
  let depth = 0;

  for (let i = 0; i < n; i++) {
    level[i] = parent[i] < 0 ? 0 : level[parent[i]] + 1;
    depth = Math.max(depth, level[i] + 1);
  }
  longest.sort((a, b) => level[a] - level[b] || total[b] - total[a]);
  for (const i of longest) {
    start[i] = free[parent[i] + 1];
    free[parent[i] + 1] += total[i];
    free[i + 1] = start[i];
  }
  // Boxes in order of start within a level: number them anew.
  const order = Uint32Array.from(longest).sort((a, b) => level[a] - level[b] || start[a] - start[b]);
  const by = (column) => order.map((i) => column[i]);
  const byFloat = (column) => Float64Array.from(order, (i) => column[i]);
  const boxes = new Boxes({
    start: byFloat(start),
    duration: byFloat(total),
    level: by(level),
    lanes: [{ first: 0, n, depth, title: '' }],
    fn: (box) => stacks.fn[order[box]],
  });
  boxes.stackOf = order;
  boxes.markOf = (box) => (stacks.stopped[order[box]] ? 'stopped' : '');
  return boxes;
}
