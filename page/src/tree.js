// SPDX-License-Identifier: MIT
//
// The tree of calls, folded and unfolded.  What is on show is one array of
// items: a call, a loop that is folded ({ calls, times, fns }), or, where there
// are several lanes, a lane's title (~lane).  A call of a function that calls
// itself, or is called by those that it calls, stands for all levels of the
// recursion, and below it is what any of them calls, unless it is shown level by
// level.

import { formatCount, formatDuration, formatShare, plural } from './format.js';
import { bar, cell, headings, List, nameOf, time } from './list.js';
import { foldLoops } from './runs.js';
import { Recursion } from './recursion.js';

const FIRST_ROWS = 300; // are unfolded in the beginning
const MOST_ROWS = 300000; // are unfolded at once by "*"

const isCall = (item) => typeof item === 'number' && item >= 0;
const isLane = (item) => typeof item === 'number' && item < 0;

export class Tree {
  // listener: clicked(call), chose(loop).
  constructor(section, trace, names, listener) {
    Object.assign(this, { section, trace, names, listener });
    this.calls = trace.calls;
    this.isOpen = new Uint8Array(this.calls.n);
    this.flags = null;
    this.at = null; // the item that is chosen
    this.folds = true;
    this.recursion = new Recursion(trace, names);
    this.isLevelled = new Set(); // calls whose recursion is shown level by level
    this.laneTotals = trace.lanes.map((lane) => this.rootsOf(lane).reduce(
      (sum, call) => sum + this.calls.duration[call], 0));
    this.list = new List(section, this.head(), 'treegrid', (row, i) => this.draw(row, i));
    this.list.element.addEventListener('click', (event) => this.click(event));
    this.begin();
  }

  head() {
    const row = headings([['start', 'Start'], ['duration', 'Duration'], ['self', 'Self'],
      ['share', 'Share'], ['id', 'ID'], ['call', 'Call'], ['site', 'From']]);
    const label = document.createElement('label');
    const box = document.createElement('input');

    row.querySelector('.share').title = 'of its thread\'s time; dark: its own, without its callees';
    box.type = 'checkbox';
    box.checked = true;
    box.id = 'folds';
    label.title = 'Calls that repeat, and a function that calls itself, as one row (f)';
    label.append(box, ' fold loops, recursion');
    row.querySelector('.call').append(label);
    box.addEventListener('change', () => this.setFolds(box.checked));
    return row;
  }

  setFolds(folds) {
    this.folds = folds;
    this.section.querySelector('#folds').checked = folds;
    this.again(() => this.begin());
  }

  // Do what makes other items, and show again what was chosen.
  again(change) {
    const call = isCall(this.at) ? this.at : this.at?.calls[0];

    this.at = null;
    change();
    if (call !== undefined) this.show(call);
  }

  // The levels of a call's recursion as one row, or each for itself.
  setLevelled(call, isLevelled) {
    if (isLevelled) this.isLevelled.add(call);
    else this.isLevelled.delete(call);
    this.items.clear();
    this.isOpen[call] = 1;
  }

  // The recursion that a call's row stands for, or undefined.
  folded(call) {
    return this.folds && !this.isInLevels(call) ? this.recursion.of(call) : undefined;
  }

  begin() {
    this.items = new Map(); // what is below a call or a lane
    this.isLevelled.clear();
    this.unfoldFirst();
    this.rebuild();
  }

  isLeaf(call) {
    const { next } = this.calls;

    if (this.folded(call)) return !this.below(call).length;
    for (let i = call + 1; i < next[call]; i = next[i]) if (!this.isWithin(i)) return false;
    return true;
  }

  // The calls below a call's row, before loops are folded.
  callsBelow(call) {
    const { next, parent } = this.calls;
    const recursion = this.folded(call);

    return recursion ? recursion.calls.filter((i) => parent[i] === call || this.isWithin(parent[i]))
      : this.between(call + 1, next[call]).filter((i) => !this.isWithin(i));
  }

  between(from, to) {
    const { next } = this.calls;
    const out = [];

    for (let i = from; i < to; i = next[i]) out.push(i);
    return out;
  }

  rootsOf({ first, n }) {
    return this.between(first, first + n);
  }

  fold(calls) {
    const { names } = this;

    if (!this.folds) return calls;
    return foldLoops(calls, {
      fnOf: (call) => names.functionOf(call),
      durationOf: (call) => this.calls.duration[call],
      isApart: (call) => names.isOdd(call),
    });
  }

  // What is below a call, or a lane (~lane).
  below(key) {
    let items = this.items.get(key);

    if (!items) {
      items = this.fold(key < 0 ? this.rootsOf(this.trace.lanes[~key])
        : this.callsBelow(key));
      this.items.set(key, items);
    }
    return items;
  }

  // Level by level, as far as there is room.
  unfoldFirst() {
    let level = this.trace.lanes.flatMap((_, i) => this.below(~i));
    let rows = level.length;

    // The first callees are shown, however many there are.
    const first = level.find((item) => isCall(item) && !this.isLeaf(item));
    this.isOpen.fill(0);
    while (level.length) {
      const below = [];
      for (const call of level.filter(isCall)) {
        if (this.isLeaf(call)) continue;
        const items = this.below(call);
        if (rows + items.length > FIRST_ROWS && call !== first) continue;
        rows += items.length;
        this.isOpen[call] = 1;
        for (const item of items) below.push(item);
      }
      level = below;
    }
  }

  // Recursion may be deeper than a script may call itself.
  collect(items, out) {
    const open = [{ items, next: 0 }];

    while (open.length) {
      const level = open.at(-1);
      const item = level.items[level.next++];
      if (item === undefined) {
        open.pop();
        continue;
      }
      out.push({ item, indent: open.length - 1 });
      if (!isCall(item)) {
        if (item.isOpen) open.push({ items: item.calls, next: 0 });
      } else if (this.isOpen[item]) {
        open.push({ items: this.below(item), next: 0 });
      }
    }
  }

  rebuild() {
    const out = [];

    this.trace.lanes.forEach((_, i) => {
      if (this.trace.lanes.length > 1) out.push({ item: ~i, indent: 0 });
      this.collect(this.below(~i), out);
    });
    this.rows = out;
    this.list.setCount(out.length);
  }

  // Rows are not in order of calls: what is below a recursion comes from all of
  // its levels.
  indexOf(item) {
    return this.rows.findIndex((row) => row.item === item);
  }

  isUnfolded(item) {
    return Boolean(isCall(item) ? this.isOpen[item] : item.isOpen);
  }

  toggle(item, isOpen) {
    if (isLane(item) || (isCall(item) && this.isLeaf(item)) || this.isUnfolded(item) === isOpen) return;
    if (isCall(item)) this.isOpen[item] = isOpen ? 1 : 0;
    else item.isOpen = isOpen;
    this.rebuild();
  }

  unfoldAll(item) {
    const { next } = this.calls;
    const [from, to] = isCall(item) ? [item, next[item]] : [item.calls[0], next[item.calls.at(-1)]];

    if (!isCall(item)) item.isOpen = true;
    for (let i = from; i < Math.min(to, from + MOST_ROWS); i++) {
      if (this.isLeaf(i) || this.isWithin(i)) continue;
      this.isOpen[i] = 1;
      for (const below of this.below(i)) if (!isCall(below)) below.isOpen = true;
    }
    this.rebuild();
  }

  select(call) {
    if (call < 0) this.at = null;
    else if (isCall(this.at) || !this.at?.calls.includes(call)) this.at = call;
    this.list.later();
  }

  laneOf(call) {
    return this.trace.lanes.findIndex(({ first, n }) => call >= first && call < first + n);
  }

  // Whether it is in a recursion, or below one, that is shown level by level.
  isInLevels(call) {
    for (const levelled of this.isLevelled) if (call >= levelled && call < this.calls.next[levelled]) return true;
    return false;
  }

  // Whether a call is in the row of another one.
  isWithin(call) {
    return this.folds && Boolean(this.recursion.isInner[call]) && !this.isInLevels(call);
  }

  // The calls whose rows are above a call's, the outermost first, and itself.
  rowsTo(call) {
    const rows = [];

    for (let i = call; i >= 0; i = this.calls.parent[i]) {
      if (this.isWithin(i)) i = this.recursion.outermost(i);
      rows.unshift(i);
    }
    return rows;
  }

  // Unfold what is above a call.
  show(call) {
    let above = ~this.laneOf(call);

    if (this.isWithin(call)) this.setLevelled(this.recursion.outermost(call), true);
    for (const i of this.rowsTo(call)) {
      const loop = this.below(above).find((item) => !isCall(item) && item.calls.includes(i));
      if (loop) loop.isOpen = true;
      if (i !== call) this.isOpen[i] = 1;
      above = i;
    }
    this.rebuild();
    this.at = call;
    this.list.reveal(this.indexOf(call));
  }

  mark(flags) {
    this.flags = flags;
    this.list.later();
  }

  choose(item) {
    this.at = item;
    this.list.reveal(this.indexOf(item));
    if (isCall(item)) this.listener.clicked(item);
    else this.listener.chose(item);
  }

  click(event) {
    const row = this.rows[this.list.indexAt(event.clientY)];

    if (!row || isLane(row.item)) return;
    if (event.target.classList.contains('levels')) {
      this.at = row.item;
      this.again(() => this.setLevelled(row.item, !this.isLevelled.has(row.item)));
    } else if (event.target.classList.contains('fold') || event.detail === 2) {
      this.toggle(row.item, !this.isUnfolded(row.item));
    }
    this.choose(row.item);
  }

  // Returns whether the key is one of the tree's.
  press(key) {
    const { at } = this;
    const index = at === null ? -1 : this.indexOf(at);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.list.page, PageUp: -this.list.page }[key];

    if (step) this.walk(index, step);
    else if (key === 'Home') this.walk(0, 0);
    else if (key === 'End') this.walk(this.rows.length - 1, 0);
    else if (key === 'f') this.setFolds(!this.folds);
    else if (index < 0) return false;
    else if (key === 'ArrowRight' && !this.isUnfolded(at)) this.toggle(at, true);
    else if (key === 'ArrowRight') this.walk(index, 1);
    else if (key === 'ArrowLeft' && this.isUnfolded(at)) this.toggle(at, false);
    else if (key === 'ArrowLeft') this.goAbove(index);
    else if (key === '*') this.unfoldAll(at);
    else if (key === 'r' && this.folds && isCall(at) && this.recursion.of(at)) {
      this.again(() => this.setLevelled(at, !this.isLevelled.has(at)));
    }
    else return false;
    return true;
  }

  goAbove(index) {
    const { indent } = this.rows[index];
    let i = index;

    while (i >= 0 && (this.rows[i].indent >= indent || isLane(this.rows[i].item))) i--;
    if (i >= 0) this.choose(this.rows[i].item);
  }

  walk(index, step) {
    const last = this.rows.length - 1;
    let to = Math.min(Math.max(index + step, 0), last);

    if (isLane(this.rows[to].item)) to = step < 0 && to > 0 ? to - 1 : to + 1;
    if (!isLane(this.rows[to].item)) this.choose(this.rows[to].item);
  }

  // ---- drawing

  // The sums of a loop's calls.
  sumsOf(loop) {
    if (!loop.sums) {
      const { duration } = this.calls;
      const sums = { total: 0, self: 0, min: Infinity, max: 0 };
      for (const call of loop.calls) {
        sums.total += duration[call];
        sums.self += this.names.self(call);
        sums.min = Math.min(sums.min, duration[call]);
        sums.max = Math.max(sums.max, duration[call]);
      }
      loop.sums = sums;
    }
    return loop.sums;
  }

  draw(row, index) {
    const { item, indent } = this.rows[index];

    if (isLane(item)) {
      const lane = this.trace.lanes[~item];
      row.classList.add('title');
      row.replaceChildren(cell('call', `${this.names.lane(lane)}: ${plural(lane.n, 'call')}`));
      return;
    }
    const call = isCall(item) ? item : item.calls[0];
    const all = this.laneTotals[this.laneOf(call)];
    row.classList.toggle('selected', item === this.at);
    row.classList.toggle('hit', this.isHit(item));
    const element = this.drawCall(item);
    const isLeaf = isCall(item) && this.isLeaf(item);
    this.list.indent(row, element, indent, isLeaf ? undefined : this.isUnfolded(item));
    row.replaceChildren(...(isCall(item) ? this.cellsOfCall(item, all) : this.cellsOfLoop(item, all)),
      element, cell('site', isCall(item) ? this.names.site(item) : ''));
  }

  isHit(item) {
    if (!this.flags) return false;
    if (isCall(item)) return Boolean(this.flags[this.names.functionOf(item)]);
    return item.fns.some((fn) => this.flags[fn]);
  }

  cellsOfCall(call, all) {
    const { names } = this;
    const duration = this.calls.duration[call];

    if (names.instant(call)) {
      return [cell('start', names.start(call)), cell('duration', names.durationOfInstant(call)), cell('self', '-'), cell('share'),
        cell('id', names.id(call))];
    }
    const recursion = this.folded(call);
    const self = recursion ? recursion.self : names.self(call);

    return [cell('start', names.start(call)),
      time('duration', names.duration(call), names.isStopped(call) && !names.isOpen(call)),
      time('self', recursion ? formatDuration(self) : names.selfText(call), names.isOwnStopped(call)),
      bar(duration / all, self / all, formatShare(duration / all)),
      cell('id', names.id(call))];
  }

  cellsOfLoop(loop, all) {
    const { total, self } = this.sumsOf(loop);

    return [cell('start', this.names.start(loop.calls[0])), cell('duration', formatDuration(total)),
      cell('self', formatDuration(self)), bar(total / all, self / all, formatShare(total / all)),
      cell('id', `${this.names.id(loop.calls[0])}…`)];
  }

  drawCall(item) {
    const { names } = this;
    const element = cell('call');

    if (!isCall(item)) {
      element.append(...this.describeLoop(item));
      return element;
    }
    const without = this.calls.without.get(item);
    const recursion = this.folds ? this.recursion.of(item) : undefined;
    if (recursion) element.append(this.levelsOf(item, recursion));
    const text = names.text(item);
    if (names.instant(item) === 'log' && text) {
      element.append(cell('name', cell('own', text)));
    } else {
      element.append(nameOf(names, names.functionOf(item)));
      if (text) element.append(cell('values', text));
    }
    if (names.instant(item)) element.classList.add('instant', names.instant(item));
    if (names.isTail(item)) element.append(cell('note', ' tail call'));
    if (names.isUnwound(item)) element.append(cell('note unwound', ' unwound'));
    if (without) element.append(cell('note', ` + ${plural(without, 'shorter call')}`));
    return element;
  }

  levelsOf(call, { n, levels }) {
    const button = cell('levels', this.isLevelled.has(call) ? `${plural(levels, 'level')} ↰`
      : `${formatCount(n)} × in ${plural(levels, 'level')}`);

    button.title = this.isLevelled.has(call) ? 'It is called again below: as one row (r)'
      : 'It is called again below: show each call (r)';
    return button;
  }

  describeLoop(loop) {
    const times = cell('times', `${formatCount(loop.times)} ×`);

    if (loop.fns.length === 1) {
      const { min, max } = this.sumsOf(loop);
      return [times, nameOf(this.names, loop.fns[0]),
        cell('note', `  ${formatDuration(min)} to ${formatDuration(max)} each`)];
    }
    return [times, cell('name', loop.fns.map((fn) => this.names.own(fn)).join(', ')),
      cell('note', `  ${plural(loop.calls.length, 'call')}`)];
  }
}
