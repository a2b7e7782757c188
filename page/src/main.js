// SPDX-License-Identifier: MIT
//
// The page: reads the data, makes the four views and lets them act as one.

import { boxesOfCalls, boxesOfStacks } from './boxes.js';
import { Chart } from './chart.js';
import { Colors } from './colors.js';
import { readTrace } from './data.js';
import { Details } from './details.js';
import { formatCount, formatDuration, plural } from './format.js';
import { Names } from './names.js';
import { Search } from './search.js';
import { Table } from './table.js';
import { Tree } from './tree.js';

const VIEWS = ['chart', 'graph', 'tree', 'table'];
const byId = (id) => document.getElementById(id);

class Page {
  constructor(trace) {
    this.trace = trace;
    this.names = new Names(trace);
    this.colors = new Colors(trace.head.functions.map(([name]) => name));
    this.search = new Search(trace, this.names);
    this.details = new Details(trace, this.names);
    this.selected = -1;
    this.picked = -1;
    this.isShown = {}; // the selected call, by view
    this.views = {};
    this.colors.changed = () => Object.values(this.views).forEach((view) => view.recolor?.());
  }

  // A view is made when it is first looked at.
  make(name) {
    const section = byId(name);
    const { trace, names, colors, details } = this;
    const clicked = (call) => this.select(call, name);

    if (name === 'tree') return new Tree(section, trace, names, { clicked });
    if (name === 'table') return new Table(section, trace, names, colors, { clicked: (fn) => this.pick(fn) });
    if (name === 'chart') {
      return new Chart(section, boxesOfCalls(trace, names), colors, (call) => names.ofCall(call), {
        clicked, hovered: (call, mouse) => details.tip(call < 0 ? null : details.ofCall(call), mouse, section),
      });
    }
    const boxes = boxesOfStacks(trace.stacks);
    const describe = (box) => details.ofStack(boxes.stackOf[box]);
    return new Chart(section, boxes, colors, (box) => names.fn(boxes.fn(box)), {
      clicked: (box) => {
        this.views.graph.select(box);
        details.show(describe(box));
      },
      hovered: (box, mouse) => details.tip(box < 0 ? null : describe(box), mouse, section),
    });
  }

  open(name) {
    this.view?.setKeys?.(false);
    this.view?.leave?.();
    VIEWS.forEach((other) => { byId(other).hidden = other !== name; });
    for (const tab of document.querySelectorAll('[role=tab]')) {
      tab.setAttribute('aria-selected', tab.dataset.view === name);
    }
    this.name = name;
    if (!this.views[name]) {
      this.views[name] = this.make(name);
      this.markView(name);
    }
    this.view = this.views[name];
    this.view.fit?.();
    this.showSelected();
    this.keysFor(document.activeElement);
  }

  // The chart's keys are the library's, which hears all of the document.
  keysFor(element) {
    this.view?.setKeys?.(element !== byId('query'));
  }

  select(call, from) {
    this.selected = call;
    this.isShown = { [from]: true };
    for (const name of ['chart', 'tree']) this.views[name]?.select(call);
    this.details.show(this.details.ofCall(call));
    this.tellFound();
  }

  showSelected() {
    if (this.selected < 0 || !this.view.show || this.name === 'graph' || this.isShown[this.name]) return;
    this.view.select(this.selected);
    this.view.show(this.selected);
    this.isShown[this.name] = true;
  }

  // ---- search

  find(text) {
    this.picked = -1;
    byId('query').setCustomValidity('');
    if (text === '' || text === '/') {
      this.search.clear();
    } else {
      try {
        this.search.find(text);
      } catch (error) {
        this.search.clear();
        this.search.text = error.message.replace(/^Invalid regular expression: /, '');
        byId('query').setCustomValidity(this.search.text);
      }
    }
    this.mark();
  }

  // A function of the report; -1: none.
  pick(fn) {
    this.picked = fn;
    byId('query').value = '';
    if (fn < 0) this.search.clear();
    else this.search.findFunction(fn);
    this.mark();
    if (fn >= 0) this.details.show(this.details.ofFunction(fn));
  }

  mark() {
    VIEWS.forEach((name) => this.markView(name));
    this.tellFound();
  }

  markView(name) {
    this.views[name]?.mark(this.search.flags, this.picked);
  }

  tellFound() {
    byId('found').textContent = this.search.tell(this.selected);
  }

  step(step) {
    const call = this.search.step(this.selected, step);

    if (call < 0) return;
    if (this.name !== 'chart' && this.name !== 'tree') this.open('tree');
    this.select(call, '');
    this.showSelected();
  }

  // ---- keys and mouse

  escape() {
    if (document.activeElement === byId('query')) byId('query').blur();
    if (this.search.flags || byId('query').value) {
      byId('query').value = '';
      this.find('');
    } else {
      this.view.zoomOut?.();
    }
  }

  // Returns whether the key is one of ours.
  key({ key, target }) {
    if (key === 'Escape') this.escape();
    else if (target === byId('query')) return false;
    else if (key === '/') byId('query').select();
    else if (key === 'n') this.step(1);
    else if (key === 'N') this.step(-1);
    else if (key === '?') byId('help').showModal();
    else if (key === 'Backspace' && this.view.zoomBack) this.view.zoomBack();
    else if (key >= '1' && key <= '4') this.open(VIEWS[key - 1]);
    else if (this.view.scrollBy && key.startsWith('Page')) this.view.scrollBy(key === 'PageUp' ? -300 : 300);
    else return this.view.press?.(key) ?? false;
    return true;
  }

  listen() {
    const query = byId('query');

    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || byId('help').open) return;
      if (this.key(event)) event.preventDefault();
    });
    document.addEventListener('focusin', (event) => this.keysFor(event.target));
    document.addEventListener('focusout', () => this.keysFor(null));
    query.addEventListener('input', () => this.find(query.value.trim()));
    query.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
    });
    byId('search').addEventListener('submit', (event) => event.preventDefault());
    byId('next').addEventListener('click', () => this.step(1));
    byId('previous').addEventListener('click', () => this.step(-1));
    byId('help-button').addEventListener('click', () => byId('help').showModal());
    for (const tab of document.querySelectorAll('[role=tab]')) {
      tab.addEventListener('click', () => this.open(tab.dataset.view));
    }
  }

  // ---- what is above the views

  tellTitle() {
    const { head, lanes } = this.trace;
    const program = head.command.replace(/^[^ ]*\//, '') || 'a trace';
    const nThreads = new Set(lanes.map(({ thread }) => thread)).size;

    document.title = `${program} - cstrace`;
    byId('title').textContent = program;
    byId('title').title = `${head.command}\nrecorded on ${head.host || 'an unknown host'}, ${
      new Date(Number(BigInt(head.start_wall_ns) / 1000000n)).toLocaleString()}`;
    this.details.show([[`${plural(head.n_calls, 'call')} in ${plural(nThreads, 'thread')}, ${
      formatDuration(head.duration_ns)}`]]);
  }

  tellBanner() {
    const { head, nShown } = this.trace;
    const notes = [];

    if (nShown < head.n_calls) {
      notes.push(`${formatCount(head.n_calls)} calls are more than a page can draw. Chart and tree have the ${
        formatCount(nShown)} that took ${formatDuration(head.least_ns)} or longer (grey: there are more); flame graph and report count all.`);
    }
    if (head.n_calls < head.n_recorded) {
      notes.push(`${formatCount(head.n_calls)} of ${formatCount(head.n_recorded)} recorded calls were chosen when this page was saved.`);
    }
    if (head.n_not_stacked) {
      notes.push(`${formatCount(head.n_not_stacked)} calls on deep stacks count as their callers' own time in the flame graph.`);
    }
    if (head.is_cut) notes.push('The trace file was cut short.');
    byId('banner').textContent = notes.join(' ');
    byId('banner').hidden = !notes.length;
  }
}

async function start() {
  const loading = byId('loading');

  try {
    const trace = await readTrace((share) => { loading.textContent = `Loading ${Math.round(share * 100)} %`; });
    const page = new Page(trace);
    window.cstrace = page; // for the curious, and the tests
    page.tellTitle();
    page.tellBanner();
    page.listen();
    loading.hidden = true;
    if (trace.calls.n) page.open('chart');
    else if (trace.head.n_calls) page.open('table');
    else {
      loading.hidden = false;
      loading.textContent = 'No calls were recorded.';
    }
    document.documentElement.dataset.ready = 'yes';
  } catch (error) {
    loading.textContent = `Cannot show this page: ${error.message}`;
    throw error;
  }
}

document.addEventListener('DOMContentLoaded', start);
