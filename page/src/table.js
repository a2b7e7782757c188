// SPDX-License-Identifier: MIT
//
// The report: a row for each function, sorted by a click on a heading.

import { formatCount, formatDuration, formatShare } from './format.js';
import { bar, cell, headings, List, nameOf, time } from './list.js';

// stops: the bit that says whether gdb stopped the program meanwhile.
const COLUMNS = [
  { key: 'calls', title: 'Calls', format: formatCount },
  { key: 'total', title: 'Total', format: formatDuration, stops: 1 },
  { key: 'self', title: 'Self', format: formatDuration, stops: 2 },
  { key: 'share', title: 'Self %', format: formatShare },
  { key: 'mean', title: 'Mean', format: formatDuration, stops: 1 },
  { key: 'min', title: 'Min', format: formatDuration, stops: 4 },
  { key: 'max', title: 'Max', format: formatDuration, stops: 8 },
  { key: 'function', title: 'Function' },
];

export class Table {
  // listener: clicked(function, or -1).
  constructor(section, trace, names, colors, listener) {
    Object.assign(this, { names, colors, listener });
    const all = trace.head.sums.reduce((sum, [, , , self]) => sum + self, 0);
    this.all = trace.head.sums.map(([fn, calls, total, self, min, max, stops]) => ({
      fn, calls, total, self, min, max, stops, mean: total / calls, share: all ? self / all : 0, function: names.fn(fn),
    }));
    this.flags = null;
    this.picked = -1;
    this.heads = headings(COLUMNS.map(({ key, title }) => [key, title]));
    [...this.heads.children].forEach((head, i) => {
      head.tabIndex = 0;
      head.addEventListener('click', () => this.sortBy(COLUMNS[i].key));
      head.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') this.sortBy(COLUMNS[i].key);
      });
    });
    this.heads.querySelector('.share').title = 'its own time, without its callees, of all time';
    this.list = new List(section, this.heads, 'grid', (row, i) => this.draw(row, i));
    this.list.element.addEventListener('click', (event) => this.click(event));
    this.sortBy('total');
  }

  // A second click on a heading turns the order round.
  sortBy(key) {
    this.isUp = this.key === key ? !this.isUp : key === 'function';
    this.key = key;
    this.sort();
  }

  sort() {
    const { key } = this;
    const order = (a, b) => (key === 'function' ? a.function.localeCompare(b.function) : a[key] - b[key]);

    this.rows = this.flags ? this.all.filter(({ fn }) => this.flags[fn]) : [...this.all];
    this.rows.sort((a, b) => (this.isUp ? order(a, b) : order(b, a)) || a.fn - b.fn);
    [...this.heads.children].forEach((head, i) => {
      const isKey = COLUMNS[i].key === key;
      head.dataset.sorted = isKey ? (this.isUp ? 'up' : 'down') : '';
      head.setAttribute('aria-sort', isKey ? (this.isUp ? 'ascending' : 'descending') : 'none');
    });
    this.list.setCount(this.rows.length);
  }

  recolor() {
    this.list.later();
  }

  // Only functions that the search found; all where it is one picked here.
  mark(flags, picked) {
    this.picked = picked;
    this.flags = picked < 0 ? flags : null;
    this.sort();
  }

  click(event) {
    const row = this.rows[this.list.indexAt(event.clientY)];
    if (row) this.listener.clicked(row.fn === this.picked ? -1 : row.fn);
  }

  // Returns whether the key is one of the table's.
  press(key) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.list.page, PageUp: -this.list.page }[key];
    const at = this.rows.findIndex(({ fn }) => fn === this.picked);

    if (!step || !this.rows.length) return false;
    const to = at < 0 ? 0 : Math.min(Math.max(at + step, 0), this.rows.length - 1);
    this.listener.clicked(this.rows[to].fn);
    this.list.reveal(to);
    return true;
  }

  draw(element, index) {
    const row = this.rows[index];

    element.className = row.fn === this.picked ? 'row selected' : 'row';
    element.replaceChildren(...COLUMNS.map(({ key, format, stops }) => {
      if (key === 'share') return bar(row.share, row.share, format(row.share));
      if (format) return time(key, format(row[key]), row.stops & stops);
      const swatch = cell('swatch');
      swatch.style.background = this.colors.all[row.fn];
      return cell('function', swatch, nameOf(this.names, row.fn));
    }));
  }
}
