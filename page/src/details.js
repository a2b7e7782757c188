// SPDX-License-Identifier: MIT
//
// All that is known of one thing: below the views once it is clicked, with
// what calls it and what it calls, and beside the mouse before.  Facts are
// [what, text].

import { copy } from './copy.js';
import { formatCount, formatDuration, formatShare, plural, STOPPED } from './format.js';
import { bar, cell, nameOf } from './list.js';

const MOST_ROWS = 200; // of a list

function callsText(n, nStopped) {
  return `${formatCount(n)}${nStopped ? `, some ${STOPPED}` : ''}`;
}

function button(text, title, click) {
  const element = document.createElement('button');

  element.textContent = text;
  element.title = title;
  element.addEventListener('click', click);
  return element;
}

function factsOf(facts) {
  const list = document.createElement('dl');

  for (const [what, text] of facts) {
    const dt = document.createElement('dt');
    const dd = document.createElement('dd');
    dt.textContent = what;
    dd.textContent = text;
    // A screen reader says "what text".
    list.append(dt, ' ', dd, ' ');
  }
  return list;
}

export class Details {
  // listener: call(i), fn(id), focus(fn), link(), closed().
  constructor(trace, names, graph, listener) {
    Object.assign(this, { trace, names, graph, listener });
    this.footer = document.getElementById('details');
    this.box = document.getElementById('tip');
    this.copies = {};
    this.self = trace.head.sums.reduce((sum, row) => sum + row[3], 0);
  }

  // ---- facts

  factsOfCall(call) {
    const { names, trace } = this;
    const without = trace.calls.without.get(call);
    const fn = names.functionOf(call);
    const facts = [
      ['duration', names.end(call)],
      ['self', names.selfText(call)],
      ['start', names.start(call)],
      ['ID', names.id(call)],
      ['thread', names.thread(call)],
      [names.instant(call) ? 'at' : 'called at', names.longSite(call) + (names.isTail(call) ? ', tail call' : '')],
    ];

    const { from, site } = trace.calls;
    const text = names.text(call);
    if (text) facts.push([{ log: 'says', count: 'value' }[names.instant(call)] ?? 'values', text.replace(/^ = /, '')]);
    if (names.trackOf(call)) return [facts.pop(), ...this.factsOfTrack(call), ...facts.slice(2)];
    if (trace.calls.asyncs.has(call)) return [facts.pop(), facts[0], ...facts.slice(2)];
    if (names.instant(call)) return facts.slice(2);
    if (from[call] !== site[call]) facts.push(['through', `${names.longSite(call, site)}, which is hidden`]);

    if (names.file(fn)) facts.push(['defined in', names.file(fn)]);
    if (names.module(fn)) facts.push(['module', names.module(fn)]);
    if (without) facts.push(['shorter', `${plural(without, 'call')} not in this page`]);
    return facts;
  }

  factsOfStack(stack) {
    const { stacks } = this.trace;
    const total = stacks.total[stack];

    return [
      ['calls', callsText(stacks.calls[stack], stacks.stopped[stack])],
      ['total', `${formatDuration(total)}${this.self ? ` (${formatShare(total / this.self)})` : ''}`],
      ['self', formatDuration(stacks.self[stack])],
      ['mean', formatDuration(total / stacks.calls[stack])],
    ];
  }

  factsOfFunction(fn) {
    const { names } = this;
    const [, calls, total, self, min, max, stops] = this.trace.head.sums.find((row) => row[0] === fn);
    const facts = [
      ['calls', callsText(calls, stops)],
      ['total', formatDuration(total)],
      ['self', `${formatDuration(self)}${this.self ? ` (${formatShare(self / this.self)})` : ''}`],
      ['mean', formatDuration(total / calls)],
      ['min', formatDuration(min)],
      ['max', formatDuration(max)],
    ];

    if (names.file(fn)) facts.push(['defined in', names.file(fn)]);
    if (names.module(fn)) facts.push(['module', names.module(fn)]);
    return facts;
  }

  // ---- lists

  // rows: cells and what a click does.
  list(title, rows, none) {
    const element = document.createElement('section');
    const heading = document.createElement('h2');

    heading.textContent = title;
    element.append(heading);
    if (!rows.length) element.append(cell('note', none));
    for (const { cells, click } of rows.slice(0, MOST_ROWS)) {
      const row = document.createElement('button');
      row.className = 'item';
      row.append(...cells);
      row.addEventListener('click', click);
      element.append(row);
    }
    if (rows.length > MOST_ROWS) element.append(cell('note', `and ${formatCount(rows.length - MOST_ROWS)} more`));
    return element;
  }

  factsOfTrack(call) {
    const track = this.names.trackOf(call);

    return [['least', track.texts[track.least]], ['greatest', track.texts[track.most]],
      ['values', formatCount(track.calls.length)]];
  }

  // The values of a counter before and after this one.
  valuesOf(call) {
    const { names, listener } = this;
    const track = names.trackOf(call);

    if (!track) return [];
    const { calls, texts } = track;
    const from = Math.max(0, Math.min(calls.indexOf(call) - MOST_ROWS / 2, calls.length - MOST_ROWS));
    const shown = calls.slice(from, from + MOST_ROWS);
    const part = shown.length < calls.length ? ` ${formatCount(from + 1)} to ${
      formatCount(from + shown.length)} of ${formatCount(calls.length)}` : '';
    const rows = shown.map((i, at) => ({
      cells: [cell('id', names.id(i)), cell('start', names.start(i)), cell('value', texts[from + at])],
      click: () => listener.call(i),
    }));
    return [this.list(`Values of ${track.name}${part}`, rows, 'none')];
  }

  callersOf(call) {
    const { names, listener } = this;
    const rows = names.stack(call).slice(0, -1).reverse().map((i) => ({
      cells: [cell('id', names.id(i)), nameOf(names, names.functionOf(i)), cell('note', names.site(i))],
      click: () => listener.call(i),
    }));

    return this.list('Callers', rows, 'none: it is the first of its thread or stack');
  }

  // What it called, a row for each function, the most time first.
  calleesOf(call) {
    const { calls } = this.trace;
    const { names, listener } = this;
    const groups = new Map();

    for (let i = call + 1; i < calls.next[call]; i = calls.next[i]) {
      if (names.instant(i)) continue;
      const fn = names.functionOf(i);
      const group = groups.get(fn) ?? { fn, n: 0, total: 0, longest: i };
      group.n++;
      group.total += calls.duration[i];
      if (calls.duration[i] > calls.duration[group.longest]) group.longest = i;
      groups.set(fn, group);
    }
    const all = calls.duration[call] || 1;
    const rows = [...groups.values()].sort((a, b) => b.total - a.total).map(({ fn, n, total, longest }) => ({
      cells: [bar(total / all, 0, formatDuration(total)), cell('times', `${formatCount(n)} ×`), nameOf(names, fn)],
      click: () => listener.call(longest),
    }));

    return this.list('Callees', rows, calls.without.has(call) ? 'shorter ones only' : 'none');
  }

  graphRows(nodes, all) {
    return nodes.map(({ fn, calls, total, isRecursive }) => ({
      cells: [isRecursive ? cell('share note', 'recursive') : bar(total / (all || 1), 0, formatDuration(total)),
        cell('times', `${formatCount(calls)} ×`), nameOf(this.names, fn)],
      click: () => this.listener.fn(fn),
    }));
  }

  listsOfFunction(fn) {
    const [own] = this.graph.tree(fn);

    return [
      this.list('Callers', this.graphRows(this.graph.callers(fn), own.total), 'none'),
      this.list('Callees', this.graphRows(own.below, own.total), 'none'),
    ];
  }

  // ---- the panel

  show({ fn, title, facts, actions = [], lists = [] }) {
    const what = cell('what', title ?? nameOf(this.names, fn));
    const head = document.createElement('div');
    const first = document.createElement('section');
    const body = document.createElement('div');

    head.className = 'head';
    const close = button('×', 'Close (Esc)', () => this.listener.closed());
    close.setAttribute('aria-label', 'Close');
    head.append(what, ...actions, close);
    if (fn !== undefined && this.names.full(fn) !== this.names.fn(fn)) first.append(cell('full', this.names.full(fn)));
    first.append(factsOf(facts));
    body.className = 'body';
    body.append(first, ...lists);
    this.footer.replaceChildren(head, body);
    this.footer.hidden = false;
  }

  hide() {
    this.footer.hidden = true;
    this.copies = {};
    this.footer.replaceChildren();
  }

  focusButton(fn) {
    return button('Callers, callees', 'The function in the call graph (g)', () => this.listener.focus(fn));
  }

  copyButton(what, key, text, label = what) {
    this.copies[key] = () => copy(text(), label);
    return button(`Copy ${what}`, `${label} (${key})`, this.copies[key]);
  }

  linkButton() {
    return this.copyButton('link', 'l', () => this.listener.link(), 'a link to what is shown');
  }

  showCall(call) {
    const { names } = this;
    const fn = names.functionOf(call);
    const id = names.id(call);
    const command = `cstrace show ${id}`;
    const way = `cstrace goto ${id}`;

    this.show({
      fn,
      facts: this.factsOfCall(call),
      actions: [
        this.copyButton('ID', 'i', () => id, `ID ${id}`),
        this.copyButton('stack', 's', () => names.stackText(call), 'its callers and itself'),
        this.copyButton('gdb command', 'c', () => command, `"${command}"`),
        // Runs the program again, up to there.
        ...(names.instant(call) ? [] : [this.copyButton(way, 'o', () => way, `"${way}"`)]),
        this.linkButton(),
        ...(names.instant(call) ? [] : [this.focusButton(fn)]),
      ],
      lists: names.instant(call) ? [...this.valuesOf(call), this.callersOf(call)] : [this.callersOf(call), this.calleesOf(call)],
    });
  }

  showFunction(fn) {
    this.show({
      fn,
      facts: this.factsOfFunction(fn),
      actions: [this.linkButton(), this.focusButton(fn)],
      lists: this.listsOfFunction(fn),
    });
  }

  showStack(stack) {
    const { stacks } = this.trace;
    const fn = stacks.fn[stack];
    const path = [];

    for (let i = stack; i >= 0; i = stacks.parent[i]) path.push(i);
    const text = () => path.toReversed().map(
      (i, depth) => `${'  '.repeat(depth)}${this.names.fn(stacks.fn[i])}\n`).join('');
    this.show({
      fn,
      facts: this.factsOfStack(stack),
      actions: [this.copyButton('stack', 's', text, 'its callers and itself'), this.linkButton(), this.focusButton(fn)],
      lists: [
        this.list('Callers on this stack', path.slice(1).map((i) => ({
          cells: [cell('times', `${formatCount(stacks.calls[i])} ×`), nameOf(this.names, stacks.fn[i])],
          click: () => this.listener.fn(stacks.fn[i]),
        })), 'none'),
        this.list('Callees on this stack', this.graphRows(this.graph.below(stack), stacks.total[stack]), 'none'),
      ],
    });
  }

  showLoop({ calls, times, fns }, { total, self, min, max }) {
    const { names } = this;
    const n = calls.length;
    const [first, last] = [calls[0], calls.at(-1)];

    this.show({
      title: `${formatCount(times)} × ${fns.map((fn) => names.own(fn)).join(', ')}`,
      facts: [['calls', formatCount(n)], ['total', formatDuration(total)], ['self', formatDuration(self)],
        ['mean', formatDuration(total / n)], ['min', formatDuration(min)], ['max', formatDuration(max)],
        ['from', `${names.start(first)} (${names.id(first)})`], ['to', `${names.start(last)} (${names.id(last)})`]],
      actions: [this.copyButton('ID', 'i', () => names.id(first), `ID ${names.id(first)} of the first`)],
      lists: [this.callersOf(first)],
    });
  }

  // ---- beside the mouse

  // fn and facts of what is below it, or null; mouse is in the section.
  tip(what, mouse, section) {
    this.box.hidden = !what;
    if (!what) return;
    this.box.replaceChildren(cell('what', nameOf(this.names, what.fn)), factsOf(what.facts));
    const area = section.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.box;
    const x = area.left + mouse.x + 14;
    const y = area.top + mouse.y + 16;
    this.box.style.left = `${Math.max(0, Math.min(x, window.innerWidth - offsetWidth - 4))}px`;
    this.box.style.top = `${y + offsetHeight > window.innerHeight ? Math.max(0, y - offsetHeight - 28) : y}px`;
  }
}
