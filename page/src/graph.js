// SPDX-License-Identifier: MIT
//
// The call graph as one folded tree: a row for each function below its
// caller, all its calls there added up.  With one function in focus: who calls
// it, above, and what it calls, below.

import { formatCount, formatDuration, formatShare } from './format.js';
import { bar, cell, headings, List, nameOf, time } from './list.js';

const LEAST_SHARE = 0.02; // of the time, for what is unfolded at first
const FIRST_ROWS = 60;

export class Graph {
  // listener: chose(function), focused(function, or -1).
  constructor(section, graph, names, listener) {
    Object.assign(this, { section, graph, names, listener });
    this.flags = null;
    this.at = null;
    this.bar = document.createElement('div');
    this.bar.className = 'focus';
    const head = headings([['calls', 'Calls'], ['total', 'Total'], ['self', 'Self'], ['share', 'Share'],
      ['call', 'Function']]);
    head.querySelector('.share').title = 'of all time; dark: its own, without its callees';
    section.append(this.bar);
    this.list = new List(section, head, 'treegrid', (row, i) => this.draw(row, i));
    this.list.element.addEventListener('click', (event) => this.click(event));
    this.focus(-1);
  }

  // Shows one function with its callers and callees; -1: all functions.
  focus(fn) {
    this.fn = fn;
    this.at = null;
    if (fn < 0) {
      this.parts = [{ nodes: this.graph.tree() }];
    } else {
      const [own] = this.graph.tree(fn);
      own.isFocus = true;
      own.isOpen = true;
      this.parts = [
        { title: 'Callers, with the calls and the time that came through them', nodes: this.graph.callers(fn),
          none: 'None: it is the outermost function wherever it was called.' },
        { title: 'The function and its callees', nodes: [own] },
      ];
      this.at = own;
    }
    this.parts.forEach(({ nodes }) => this.unfoldFirst(nodes, fn < 0 ? LEAST_SHARE : 0));
    this.drawBar();
    this.rebuild();
  }

  unfoldFirst(nodes, least) {
    const all = nodes.reduce((sum, { total }) => sum + total, 0);
    let rows = nodes.length;
    let level = nodes;

    while (level.length && rows < FIRST_ROWS) {
      const below = [];
      for (const node of level) {
        if (!node.below.length || node.total < all * least) continue;
        if (rows + node.below.length > FIRST_ROWS && !node.isFocus) continue;
        node.isOpen = true;
        rows += node.below.length;
        below.push(...node.below);
      }
      level = below;
    }
  }

  collect(nodes, indent, out) {
    for (const node of nodes) {
      out.push({ node, indent });
      if (node.isOpen) this.collect(node.below, indent + 1, out);
    }
  }

  rebuild() {
    const out = [];

    for (const { title, nodes, none } of this.parts) {
      if (title) out.push({ title });
      if (none && !nodes.length) out.push({ none });
      this.collect(nodes, 0, out);
    }
    this.rows = out;
    this.list.setCount(out.length);
  }

  drawBar() {
    const { fn } = this;

    if (fn < 0) {
      this.bar.replaceChildren(cell('note', 'All functions. Double-click one, or press Enter, for its callers and callees.'));
      return;
    }
    const all = document.createElement('button');
    all.textContent = '‹ All functions';
    all.addEventListener('click', () => this.listener.focused(-1));
    this.bar.replaceChildren(all, nameOf(this.names, fn));
  }

  mark(flags) {
    this.flags = flags;
    this.list.later();
  }

  toggle(node, isOpen) {
    if (!node.below.length || Boolean(node.isOpen) === isOpen) return;
    node.isOpen = isOpen;
    this.rebuild();
  }

  choose(node) {
    this.at = node;
    this.list.reveal(this.rows.findIndex((row) => row.node === node));
    this.listener.chose(node.fn);
  }

  click(event) {
    const row = this.rows[this.list.indexAt(event.clientY)];

    if (!row?.node) return;
    if (event.target.classList.contains('fold')) this.toggle(row.node, !row.node.isOpen);
    else if (event.detail === 2) this.listener.focused(row.node.fn);
    else this.choose(row.node);
  }

  // Returns whether the key is one of ours.
  press(key) {
    const index = this.rows.findIndex(({ node }) => node && node === this.at);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.list.page, PageUp: -this.list.page }[key];
    const { at } = this;

    if (step) this.walk(index, step);
    else if (index < 0) return false;
    else if (key === 'Enter') this.listener.focused(at.fn);
    else if (key === 'ArrowRight' && !at.isOpen) this.toggle(at, true);
    else if (key === 'ArrowRight') this.walk(index, 1);
    else if (key === 'ArrowLeft' && at.isOpen) this.toggle(at, false);
    else if (key === 'ArrowLeft') this.goAbove(index);
    else return false;
    return true;
  }

  goAbove(index) {
    let i = index;

    while (i >= 0 && !(this.rows[i].indent < this.rows[index].indent)) i--;
    if (this.rows[i]?.node) this.choose(this.rows[i].node);
  }

  walk(index, step) {
    const last = this.rows.length - 1;
    let to = Math.min(Math.max(index + step, 0), last);

    while (to > 0 && to < last && !this.rows[to].node) to += Math.sign(step);
    if (this.rows[to].node) this.choose(this.rows[to].node);
  }

  draw(row, index) {
    const { title, none, node, indent } = this.rows[index];

    if (title || none) {
      row.classList.toggle('title', Boolean(title));
      row.replaceChildren(title ? cell('call', title) : cell('call note', none));
      return;
    }
    const all = this.graph.all || 1;
    const call = cell('call', nameOf(this.names, node.fn));
    this.list.indent(row, call, indent, node.below.length ? Boolean(node.isOpen) : undefined);
    if (node.isRecursive) call.append(cell('note', ' recursive: counted above'));
    row.classList.toggle('selected', node === this.at);
    row.classList.toggle('focused', Boolean(node.isFocus));
    row.classList.toggle('hit', Boolean(this.flags?.[node.fn]));
    row.replaceChildren(cell('calls', formatCount(node.calls)), ...this.times(node, all), call);
  }

  times({ isRecursive, total, self, stopped, ownStops }, all) {
    if (isRecursive) return [cell('total'), cell('self'), cell('share')];
    return [time('total', formatDuration(total), stopped), time('self', formatDuration(self), ownStops),
      bar(total / all, self / all, formatShare(total / all))];
  }
}
