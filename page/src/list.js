// SPDX-License-Identifier: MIT
//
// A list of any length, of which only the rows in view exist.

import { STOPPED } from './format.js';

// Browsers draw nothing beyond some 17 to 33 million pixels.
const MOST_PIXELS = 8e6;

export class List {
  // draw(row, index) fills a new row's element.
  constructor(element, rowHeight, draw) {
    this.element = element;
    this.rowHeight = rowHeight;
    this.draw = draw;
    this.n = 0;
    this.rows = [];
    this.space = document.createElement('div');
    this.space.className = 'space';
    this.pane = document.createElement('div');
    this.pane.className = 'pane';
    this.element.append(this.space, this.pane);
    this.element.addEventListener('scroll', () => this.later());
    new ResizeObserver(() => this.later()).observe(element);
  }

  setCount(n) {
    this.n = n;
    this.space.style.height = `${Math.min(n * this.rowHeight, MOST_PIXELS)}px`;
    this.later();
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.render();
    });
  }

  // How far the list is scrolled, and at most, in its own pixels.
  get most() {
    return Math.max(0, this.n * this.rowHeight - this.element.clientHeight);
  }

  get scale() {
    const real = this.element.scrollHeight - this.element.clientHeight;
    return real > 0 && this.n * this.rowHeight > MOST_PIXELS ? this.most / real : 1;
  }

  get top() {
    return Math.min(this.element.scrollTop * this.scale, this.most);
  }

  indexAt(clientY) {
    const y = clientY - this.element.getBoundingClientRect().top;
    return Math.floor((this.top + y) / this.rowHeight);
  }

  // Rows at once, as far as they are whole.
  get page() {
    return Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight));
  }

  reveal(index) {
    const y = index * this.rowHeight;
    const height = this.element.clientHeight;

    if (y < this.top || y + this.rowHeight > this.top + height) {
      this.element.scrollTop = Math.max(0, y - height / 3) / this.scale;
    }
    this.later();
  }

  render() {
    const { top, rowHeight } = this;
    const first = Math.floor(top / rowHeight);
    const n = Math.min(this.n - first, Math.ceil(this.element.clientHeight / rowHeight) + 1);

    while (this.rows.length < n) {
      const row = newRow();
      this.rows.push(row);
      this.pane.append(row);
    }
    this.rows.forEach((row, i) => {
      row.hidden = i >= n;
      if (i < n) this.show(row, first + i);
    });
    const shift = this.element.scrollTop - (top - first * rowHeight);
    this.pane.style.transform = `translateY(${shift}px)`;
  }

  // What stays the same stays in place: a click may be on its way to it, or a
  // text of it be marked.
  show(row, index) {
    const wanted = newRow();

    this.draw(wanted, index);
    row.className = wanted.className;
    if (!row.isEqualNode(wanted)) row.replaceChildren(...wanted.childNodes);
  }
}

function newRow() {
  const row = document.createElement('div');

  row.className = 'row';
  return row;
}

// A row's cell: text, and a class.
export function cell(className, ...content) {
  const element = document.createElement('span');

  element.className = className;
  element.append(...content);
  return element;
}

// A time, with a mark where gdb stopped the program meanwhile.
export function time(className, text, isStopped) {
  const element = cell(className, text);

  if (isStopped) {
    element.append(cell('star', '*'));
    element.title = STOPPED;
  }
  return element;
}

// A share of all (0 to 1) as a bar, of which a part is its own, with a text.
export function bar(total, self, text) {
  const element = cell('share', cell('number', text));
  const percent = (share) => `${Math.min(Math.max(share, 0), 1) * 100}%`;

  element.style.setProperty('--total-width', percent(total));
  element.style.setProperty('--own-width', percent(self));
  return element;
}

// A function's name, of which its own part is read first: where there is no
// room, the other parts are cut.
export function nameOf(names, fn) {
  const [before, own, after] = names.parts(fn);
  const element = cell('name', cell('qualifier', before), cell('own', own), cell('qualifier', after));

  element.title = names.full(fn);
  return element;
}

export function headings(names) {
  const row = document.createElement('div');

  row.className = 'headings';
  row.append(...names.map(([className, text]) => cell(className, text)));
  return row;
}
