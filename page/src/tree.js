// SPDX-License-Identifier: MIT
//
// The tree of calls, folded and unfolded.  What is on show is one array: calls,
// and where there are several lanes, their titles (~lane).

import { formatCount, plural } from './format.js';
import { cell, headings, List } from './list.js';

const ROW = 20;
const INDENT = 14;
const DEEPEST = 32; // levels that are drawn as such
const FIRST_ROWS = 300; // are unfolded in the beginning
const MOST_ROWS = 300000; // are unfolded at once by "*"

export class Tree {
  // listener: clicked(call).
  constructor(section, trace, names, listener) {
    Object.assign(this, { section, trace, names, listener });
    this.calls = trace.calls;
    this.isOpen = new Uint8Array(this.calls.n);
    this.flags = null;
    this.selected = -1;
    section.append(headings([['start', 'Start'], ['duration', 'Duration'], ['call', 'Call'], ['site', 'From']]));
    this.body = document.createElement('div');
    this.body.className = 'list';
    section.append(this.body);
    this.list = new List(this.body, ROW, (row, i) => this.draw(row, i));
    this.body.addEventListener('click', (event) => this.click(event));
    this.unfoldFirst();
    this.rebuild();
  }

  isLeaf(call) {
    return this.calls.next[call] === call + 1;
  }

  // Level by level, as far as there is room.
  unfoldFirst() {
    const { next, n } = this.calls;
    let rows = 0;
    let level = [];

    for (let i = 0; i < n && rows < FIRST_ROWS; i = next[i]) {
      level.push(i);
      rows++;
    }
    while (level.length) {
      const below = [];
      for (const call of level) {
        let more = 0;
        for (let i = call + 1; i < next[call] && more < FIRST_ROWS; i = next[i]) more++;
        if (!more || rows + more > FIRST_ROWS) continue;
        rows += more;
        this.isOpen[call] = 1;
        for (let i = call + 1; i < next[call]; i = next[i]) below.push(i);
      }
      level = below;
    }
    // The first callees are to be seen, be they ever so many.
    if (rows < FIRST_ROWS) for (let i = 0; i < n; i = next[i]) this.isOpen[i] = 1;
  }

  // The rows below a call, or of a lane, as they are folded now.
  collect(from, to, out) {
    const { next } = this.calls;

    for (let i = from; i < to; i = this.isOpen[i] ? i + 1 : next[i]) out.push(i);
    return out;
  }

  rebuild() {
    const out = [];

    this.trace.lanes.forEach((lane, i) => {
      if (this.trace.lanes.length > 1) out.push(~i);
      this.collect(lane.first, lane.first + lane.n, out);
    });
    this.rows = out;
    this.list.setCount(out.length);
  }

  // Rows are in order of calls, but for titles: ~lane stands before its calls.
  indexOf(call) {
    const place = (row) => (row < 0 ? this.trace.lanes[~row].first - 0.5 : row);
    let low = 0;
    let high = this.rows.length;

    while (low < high) {
      const middle = (low + high) >> 1;
      if (place(this.rows[middle]) < call) low = middle + 1;
      else high = middle;
    }
    return this.rows[low] === call ? low : -1;
  }

  toggle(call, isOpen) {
    if (this.isLeaf(call) || Boolean(this.isOpen[call]) === isOpen) return;
    this.isOpen[call] = isOpen ? 1 : 0;
    this.rebuild();
  }

  unfoldAll(call) {
    const { next } = this.calls;
    const end = Math.min(next[call], call + MOST_ROWS);

    for (let i = call; i < end; i++) this.isOpen[i] = this.isLeaf(i) ? 0 : 1;
    this.rebuild();
  }

  select(call) {
    this.selected = call;
    this.list.later();
  }

  // Unfold what is above it.
  show(call) {
    let isNew = false;

    for (let i = this.calls.parent[call]; i >= 0; i = this.calls.parent[i]) {
      if (!this.isOpen[i]) isNew = true;
      this.isOpen[i] = 1;
    }
    if (isNew) this.rebuild();
    this.select(call);
    this.list.reveal(this.indexOf(call));
  }

  mark(flags) {
    this.flags = flags;
    this.list.later();
  }

  click(event) {
    const index = this.list.indexAt(event.clientY);
    const call = this.rows[index];

    if (call === undefined || call < 0) return;
    if (event.target.classList.contains('fold')) this.toggle(call, !this.isOpen[call]);
    else if (event.detail === 2) this.toggle(call, !this.isOpen[call]);
    this.listener.clicked(call);
  }

  // Returns whether the key is one of the tree's.
  press(key) {
    const at = this.selected < 0 ? -1 : this.indexOf(this.selected);
    const call = this.selected;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.list.page, PageUp: -this.list.page }[key];

    if (step) this.walk(at, step);
    else if (key === 'Home') this.walk(0, 0);
    else if (key === 'End') this.walk(this.rows.length - 1, 0);
    else if (call < 0) return false;
    else if (key === 'ArrowRight' && !this.isOpen[call]) this.toggle(call, true);
    else if (key === 'ArrowRight') this.walk(at, 1);
    else if (key === 'ArrowLeft' && this.isOpen[call]) this.toggle(call, false);
    else if (key === 'ArrowLeft' && this.calls.parent[call] >= 0) this.go(this.calls.parent[call]);
    else if (key === '*') this.unfoldAll(call);
    else return key === 'ArrowLeft';
    return true;
  }

  walk(at, step) {
    const last = this.rows.length - 1;
    let to = Math.min(Math.max(at + step, 0), last);

    if (this.rows[to] < 0) to = step < 0 && to > 0 ? to - 1 : to + 1;
    if (this.rows[to] >= 0) this.go(this.rows[to]);
  }

  go(call) {
    this.show(call);
    this.listener.clicked(call);
  }

  draw(row, index) {
    const call = this.rows[index];

    if (call < 0) {
      const lane = this.trace.lanes[~call];
      row.classList.add('title');
      row.replaceChildren(`${this.names.lane(lane)}: ${plural(lane.n, 'call')}`);
      return;
    }
    row.classList.toggle('selected', call === this.selected);
    row.classList.toggle('hit', Boolean(this.flags?.[this.names.functionOf(call)]));
    row.replaceChildren(
      cell('start', this.names.start(call)),
      cell('duration', this.names.duration(call)),
      this.drawCall(call),
      cell('site', this.names.site(call)),
    );
  }

  drawCall(call) {
    const depth = this.calls.depth[call];
    const isLeaf = this.isLeaf(call);
    const fold = cell(isLeaf ? 'leaf' : 'fold', isLeaf ? '' : this.isOpen[call] ? '▾' : '▸');
    const without = this.calls.without.get(call);
    const element = cell('call', fold, cell('name', this.names.ofCall(call)));

    element.style.paddingLeft = `${Math.min(depth, DEEPEST) * INDENT}px`;
    if (depth > DEEPEST) fold.before(cell('note', `[${depth}] `));
    if (this.names.isUnwound(call)) element.append(cell('note', ' (unwound)'));
    if (without) {
      element.append(cell('note', ` + ${formatCount(without)} shorter call${without > 1 ? 's' : ''}`));
    }
    return element;
  }
}
