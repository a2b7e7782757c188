// SPDX-License-Identifier: MIT
//
// All that is known of one thing: below the views once it is clicked, beside
// the mouse before.  Rows of [text] or [what, text].

import { formatCount, formatDuration, plural } from './format.js';

export class Details {
  constructor(trace, names) {
    Object.assign(this, { trace, names });
    this.footer = document.getElementById('details');
    this.box = document.getElementById('tip');
  }

  ofCall(call) {
    const { names, trace } = this;
    const without = trace.calls.without.get(call);
    const rows = [
      [names.ofCall(call)],
      ['duration', names.end(call)],
      ['start', names.start(call)],
      ['call site', names.longSite(call)],
      ['ID', names.id(call)],
      ['thread', names.thread(call)],
    ];
    const module = names.module(names.functionOf(call));

    if (module) rows.push(['module', module]);
    if (without) rows.push(['shorter', `${plural(without, 'call')} not shown`]);
    return rows;
  }

  ofStack(stack) {
    const { stacks, head } = this.trace;
    const all = head.sums.reduce((sum, row) => sum + row[3], 0);
    const total = stacks.total[stack];

    return [
      [this.names.fn(stacks.fn[stack])],
      ['calls', formatCount(stacks.calls[stack])],
      ['total', `${formatDuration(total)}${all ? ` (${(total / all * 100).toFixed(1)} %)` : ''}`],
      ['self', formatDuration(stacks.self[stack])],
      ['mean', formatDuration(total / stacks.calls[stack])],
    ];
  }

  ofFunction(fn) {
    const [, calls, total, self, min, max] = this.trace.head.sums.find((row) => row[0] === fn);

    return [
      [this.names.fn(fn)],
      ['calls', formatCount(calls)],
      ['total', formatDuration(total)],
      ['self', formatDuration(self)],
      ['mean', formatDuration(total / calls)],
      ['min', formatDuration(min)],
      ['max', formatDuration(max)],
    ];
  }

  fill(element, rows) {
    element.replaceChildren(...rows.map(([what, text]) => {
      const row = document.createElement('div');
      if (text === undefined) {
        row.className = 'what';
        row.textContent = what;
      } else {
        const label = document.createElement('b');
        label.textContent = what;
        row.append(label, ` ${text}`);
      }
      return row;
    }));
  }

  show(rows) {
    this.fill(this.footer, rows);
  }

  // mouse is in the section; rows null: nothing.
  tip(rows, mouse, section) {
    this.box.hidden = !rows;
    if (!rows) return;
    this.fill(this.box, rows);
    const area = section.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.box;
    const x = area.left + mouse.x + 14;
    const y = area.top + mouse.y + 16;
    this.box.style.left = `${Math.max(0, Math.min(x, window.innerWidth - offsetWidth - 4))}px`;
    this.box.style.top = `${y + offsetHeight > window.innerHeight ? Math.max(0, y - offsetHeight - 28) : y}px`;
  }
}
