// SPDX-License-Identifier: MIT
//
// What the colours say: the groups with a colour of their own and their share
// of the time, and the marks that the chart has.

import { formatShare, STOPPED } from './format.js';
import { cell } from './list.js';
import { partsOf } from './names.js';

const WAYS = { group: 'class or file', function: 'function' };

function swatch(color, className = 'swatch') {
  const element = cell(className);
  element.style.background = color;
  return element;
}

export class Legend {
  // listener: picked(functions, name), changed().
  constructor(element, trace, colors, listener) {
    Object.assign(this, { element, trace, colors, listener });
    this.all = trace.head.sums.reduce((sum, row) => sum + row[3], 0);
    this.picked = '';
  }

  // The name of the view that it explains.
  show(view) {
    this.view = view;
    this.draw();
  }

  get hasColors() {
    return ['chart', 'flame', 'report'].includes(this.view);
  }

  draw() {
    const stops = this.trace.calls.stops.size ? [this.star()] : [];

    if (this.hasColors) this.element.replaceChildren(this.chooser(), ...this.marks(), ...stops, ...this.chips());
    else this.element.replaceChildren(...stops);
    this.element.hidden = !this.element.children.length;
  }

  star() {
    const edge = this.hasColors ? [swatch(this.colors.stopped, 'swatch edge')] : [];
    const key = cell('key', ...edge, `* ${STOPPED}`);

    key.id = 'stops';
    return key;
  }

  chooser() {
    const label = document.createElement('label');
    const select = document.createElement('select');

    select.id = 'colors';
    for (const [way, text] of Object.entries(WAYS)) {
      const option = document.createElement('option');
      option.value = way;
      option.textContent = text;
      option.selected = way === this.colors.way;
      select.append(option);
    }
    select.addEventListener('change', () => {
      this.picked = '';
      this.colors.by(select.value);
      this.listener.changed();
    });
    label.append('Colour: ', select);
    return label;
  }

  // As much of a long name's end as no other name ends with.
  shorten(name, names) {
    const parts = partsOf(name);

    for (let n = 1; n < parts.length; n++) {
      const end = parts.slice(-n).join('::');
      if (names.every((other) => other === name || !`::${other}`.endsWith(`::${end}`))) return end;
    }
    return name;
  }

  chip(name, color, self, fns, text = name) {
    const button = document.createElement('button');
    // A share of next to nothing is left out.
    const share = this.all && self >= this.all * 0.0005 ? formatShare(self / this.all) : '';

    button.className = 'chip';
    button.setAttribute('aria-pressed', name === this.picked);
    button.title = `${name}: ${share || 'next to nothing'} of the time is its own; click to mark its calls`;
    button.append(swatch(color), cell('group', text), cell('note', ` ${share}`));
    button.addEventListener('click', () => {
      this.picked = name === this.picked ? '' : name;
      this.draw();
      this.listener.picked(this.picked ? fns : null, name);
    });
    return button;
  }

  chips() {
    const named = this.colors.groups.filter(({ isNamed }) => isNamed);
    const others = this.colors.groups.filter(({ isNamed }) => !isNamed);
    const names = this.colors.groups.map(({ name }) => name);
    const spans = this.trace.head.sums.filter(([fn]) => this.colors.spans.includes(fn));
    const chips = named.map(({ name, color, self, fns }) => this.chip(name, color, self, fns, this.shorten(name, names)));

    if (others.length) {
      chips.push(this.chip(`${others.length} others`, this.colors.other,
        others.reduce((sum, { self }) => sum + self, 0), others.flatMap(({ fns }) => fns)));
    }
    if (spans.length) {
      chips.unshift(this.chip('spans', this.colors.span, spans.reduce((sum, row) => sum + row[3], 0),
        spans.map(([fn]) => fn)));
    }
    return chips;
  }

  // Only those that the view has, and that are in this trace.
  marks() {
    const { colors, view, trace: { calls } } = this;
    const ends = new Uint8Array(8);
    const mark = (color, className, text, title) => {
      const key = cell('key', swatch(color, className), text);
      key.title = title;
      return key;
    };
    const marks = view === 'report' ? []
      : [mark(colors.many, 'swatch', 'many short calls', 'calls of several functions within a pixel')];

    if (view !== 'chart') return marks;
    for (let i = 0; i < calls.n; i++) ends[calls.end[i] & 3] = 1;
    const words = new Set(this.trace.instants.values());
    if (words.has('throw')) marks.push(mark(colors.thrown, 'swatch edge', 'thrown', 'an exception is thrown there'));
    if (words.has('catch')) marks.push(mark(colors.caught, 'swatch edge', 'caught', 'an exception is caught there'));
    if (['log', 'count', 'async'].some((word) => words.has(word))) {
      marks.push(mark(colors.said, 'swatch edge', 'said', 'a message, a counter, or where a span begins or ends'));
    }
    if (ends[2]) marks.push(mark(colors.unwound, 'swatch edge', 'unwound', 'left by an exception or longjmp'));
    if (ends[0]) marks.push(mark(colors.open, 'swatch edge', 'open', 'had not returned when the trace ended'));
    if (calls.without.size) marks.push(mark(colors.more, 'swatch', 'more below', 'shorter calls are left out'));
    return marks;
  }

  // Chooses no group any more, as something else is searched for.
  unpick() {
    if (!this.picked) return;
    this.picked = '';
    this.draw();
  }
}
