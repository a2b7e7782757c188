// SPDX-License-Identifier: MIT
//
// A list of any length, of which only the rows in view exist.  To a reader of
// the screen it is a grid: the section that it is in has the focus, and knows
// which row is chosen.

import { STOPPED } from './format.js';

// Browsers draw nothing beyond some 17 to 33 million pixels.
const MOST_PIXELS = 8e6;

// What cells have in common: how far they are indented at most.
const INDENT = 14;
const NARROW_INDENT = 8;
const NARROW = 400; // pixels
const NAME_ROOM = 200; // for what is indented
const DEEPEST = 32; // levels that are drawn as such

export class List {
  // Puts headings and a list into the section; draw(row, index) fills a new
  // row's element.
  constructor(section, head, role, draw) {
    this.section = section;
    this.draw = draw;
    this.element = document.createElement('div');
    this.element.className = 'list';
    this.element.setAttribute('role', 'rowgroup');
    section.setAttribute('role', role);
    section.append(head, this.element);
    this.n = 0;
    this.rows = [];
    this.space = document.createElement('div');
    this.space.className = 'space';
    this.pane = document.createElement('div');
    this.pane.className = 'pane';
    this.pane.setAttribute('role', 'presentation');
    this.element.append(this.space, this.pane);
    this.element.addEventListener('scroll', () => this.later());
    this.room = 0; // of the cell that is indented
    this.measure();
    new ResizeObserver(() => {
      const first = this.top / this.rowHeight;
      this.room = head.querySelector('.call')?.clientWidth;
      this.measure();
      this.setCount(this.n);
      this.element.scrollTop = first * this.rowHeight / this.scale;
    }).observe(this.element);
  }

  // A window that is narrow, or has no mouse, has higher rows.
  measure() {
    this.rowHeight = parseFloat(getComputedStyle(this.element).getPropertyValue('--row'));
  }

  setCount(n) {
    this.n = n;
    this.section.setAttribute('aria-rowcount', n + 1);
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

  // How many complete rows are in view.
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
      const row = newRow(`${this.section.id}-${this.rows.length}`);
      this.rows.push(row);
      this.pane.append(row);
    }
    this.rows.forEach((row, i) => {
      row.hidden = i >= n;
      if (i < n) this.show(row, first + i);
    });
    const chosen = this.rows.find((row) => !row.hidden && row.classList.contains('selected'));
    if (chosen) this.section.setAttribute('aria-activedescendant', chosen.id);
    else this.section.removeAttribute('aria-activedescendant');
    const shift = this.element.scrollTop - (top - first * rowHeight);
    this.pane.style.transform = `translateY(${shift}px)`;
  }

  // What has not changed is left as it is: it may be about to be clicked, or some
  // of its text be marked.
  show(row, index) {
    const wanted = newRow(row.id);

    this.draw(wanted, index);
    wanted.setAttribute('aria-rowindex', index + 2);
    wanted.setAttribute('aria-selected', wanted.classList.contains('selected'));
    for (const child of wanted.children) child.setAttribute('role', 'gridcell');
    for (const name of row.getAttributeNames()) if (!wanted.hasAttribute(name)) row.removeAttribute(name);
    for (const name of wanted.getAttributeNames()) row.setAttribute(name, wanted.getAttribute(name));
    if (!row.isEqualNode(wanted)) row.replaceChildren(...wanted.childNodes);
  }

  // A row of a tree: its level, and whether it is unfolded (undefined: nothing
  // is below it).  The cell is indented, as far as there is room.
  indent(row, element, level, isOpen) {
    const step = this.room < NARROW ? NARROW_INDENT : INDENT;
    const deepest = Math.min(DEEPEST, Math.max(4, Math.floor((this.room - NAME_ROOM) / step)));

    row.setAttribute('aria-level', level + 1);
    if (isOpen !== undefined) row.setAttribute('aria-expanded', Boolean(isOpen));
    element.prepend(cell(isOpen === undefined ? 'leaf' : 'fold', isOpen === undefined ? '' : isOpen ? '▾' : '▸'));
    element.style.paddingLeft = `${Math.min(level, deepest) * step}px`;
    if (level > deepest) element.prepend(cell('note', `[${level}] `));
  }
}

function newRow(id) {
  const row = document.createElement('div');

  row.id = id;
  row.className = 'row';
  row.setAttribute('role', 'row');
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
  row.setAttribute('role', 'row');
  row.append(...names.map(([className, text]) => cell(className, text)));
  for (const head of row.children) head.setAttribute('role', 'columnheader');
  return row;
}
