// SPDX-License-Identifier: MIT
//
// The page: reads the data, makes the views and lets them act as one.

import { tellAbout, whyNone } from './about.js';
import { boxesOfCalls, boxesOfStacks } from './boxes.js';
import { CallGraph } from './callgraph.js';
import { Chart } from './chart.js';
import { Colors } from './colors.js';
import { tell } from './copy.js';
import { readTrace } from './data.js';
import { Details } from './details.js';
import { formatDuration } from './format.js';
import { Graph } from './graph.js';
import { Legend } from './legend.js';
import { Link } from './link.js';
import { Names } from './names.js';
import { Search } from './search.js';
import { Table } from './table.js';
import { Tree } from './tree.js';

const VIEWS = ['chart', 'flame', 'tree', 'graph', 'report'];
const OF_CALLS = ['chart', 'tree'];
const byId = (id) => document.getElementById(id);

class Page {
  constructor(trace) {
    this.trace = trace;
    this.names = new Names(trace);
    this.colors = new Colors(trace, this.names);
    this.search = new Search(trace, this.names);
    this.callgraph = new CallGraph(trace.stacks, trace.instants);
    this.details = new Details(trace, this.names, this.callgraph, {
      call: (call) => {
        this.select(call, '');
        this.showSelected();
      },
      fn: (fn) => this.pick(fn),
      focus: (fn) => this.focus(fn),
      link: () => {
        this.link.later(() => this.state());
        return this.link.write();
      },
      closed: () => this.unselect(),
    });
    this.legend = new Legend(byId('legend'), trace, this.colors, {
      picked: (fns) => this.pickGroup(fns),
      changed: () => this.remember(),
    });
    this.link = new Link((state) => this.apply(state));
    this.selected = -1; // call
    this.picked = -1; // function
    this.focused = -1; // function, in the call graph
    this.isShown = {}; // the selected call, by view
    this.views = {};
    this.colors.changed = () => {
      Object.values(this.views).forEach((view) => view.recolor?.());
      this.legend.draw();
    };
  }

  // ---- the views

  makeChart() {
    const { trace, names, colors, details } = this;
    const section = byId('chart').querySelector('.stage');
    const label = (call) => {
      const fn = names.functionOf(call);
      const duration = formatDuration(trace.calls.duration[call]) + (names.isStopped(call) ? '*' : '');
      return [names.own(fn), names.text(call), names.qualifier(fn), duration].filter(Boolean);
    };
    const chart = new Chart(section, boxesOfCalls(trace, names), colors, label, {
      clicked: (call) => this.select(call, 'chart'),
      hovered: (call, mouse) => details.tip(call < 0 ? null
        : { fn: names.functionOf(call), facts: details.factsOfCall(call) }, mouse, section),
      moved: () => this.remember(),
    });

    chart.addMinimap(byId('minimap'));
    return chart;
  }

  makeFlame() {
    const { trace: { stacks }, names, colors, details } = this;
    const section = byId('flame').querySelector('.stage');
    const boxes = boxesOfStacks(stacks);
    const label = (box) => {
      const fn = boxes.fn(box);
      return [names.own(fn), names.qualifier(fn)].filter(Boolean);
    };

    return new Chart(section, boxes, colors, label, {
      clicked: (box) => this.selectStack(box),
      hovered: (box, mouse) => details.tip(box < 0 ? null
        : { fn: boxes.fn(box), facts: details.factsOfStack(boxes.stackOf[box]) }, mouse, section),
      moved: () => {},
    });
  }

  // A view is made when it is first looked at.
  make(name) {
    const { trace, names, colors } = this;

    if (name === 'chart') return this.makeChart();
    if (name === 'flame') return this.makeFlame();
    if (name === 'tree') {
      return new Tree(byId(name), trace, names, {
        clicked: (call) => this.select(call, name),
        chose: (loop) => {
          this.selected = -1;
          this.details.showLoop(loop, this.views.tree.sumsOf(loop));
        },
      });
    }
    if (name === 'graph') {
      return new Graph(byId(name), this.callgraph, names, {
        chose: (fn) => this.details.showFunction(fn),
        focused: (fn) => this.focus(fn),
      });
    }
    return new Table(byId(name), trace, names, colors, { clicked: (fn) => this.pick(fn) });
  }

  open(name) {
    this.view?.setKeys?.(false);
    this.view?.leave?.();
    VIEWS.forEach((other) => { byId(other).hidden = other !== name; });
    this.legend.show(name);
    for (const button of document.querySelectorAll('[data-view]')) {
      button.setAttribute('aria-current', button.dataset.view === name);
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
    this.remember();
  }

  // What the user opens gets the keys as well.
  go(name) {
    this.open(name);
    byId(name).focus({ preventScroll: true });
  }

  // The chart's keys are the library's, which hears all of the document.
  keysFor(element) {
    this.view?.setKeys?.(!['INPUT', 'SELECT'].includes(element?.tagName));
  }

  // ---- what is chosen

  select(call, from) {
    this.selected = call;
    this.isShown = { [from]: true };
    for (const name of OF_CALLS) this.views[name]?.select(call);
    this.details.showCall(call);
    this.tellFound();
    this.remember();
  }

  selectStack(box) {
    const { flame } = this.views;

    this.selected = -1;
    this.stack = flame.boxes.stackOf[box];
    flame.select(box);
    this.details.showStack(this.stack);
    this.remember();
  }

  unselect() {
    this.selected = -1;
    this.stack = undefined;
    for (const name of OF_CALLS) this.views[name]?.select(-1);
    this.views.flame?.select(-1);
    if (this.picked >= 0) this.pick(-1);
    this.details.hide();
    this.tellFound();
    this.remember();
  }

  showSelected() {
    if (this.selected < 0 || !OF_CALLS.includes(this.name) || this.isShown[this.name]) return;
    this.view.select(this.selected);
    this.view.show(this.selected);
    this.isShown[this.name] = true;
  }

  // A function in the call graph, with its callers and callees; -1: all.
  focus(fn) {
    this.focused = fn;
    this.open('graph');
    this.views.graph.focus(fn);
    if (fn >= 0) this.details.showFunction(fn);
    else this.details.hide();
    this.remember();
  }

  // ---- search

  find(text) {
    this.picked = -1;
    this.legend.unpick();
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

  // A function whose calls are marked; -1: none.
  pick(fn) {
    this.picked = fn;
    byId('query').value = '';
    this.legend.unpick();
    if (fn < 0) this.search.clear();
    else this.search.findFunctions([fn]);
    this.mark();
    if (fn >= 0) this.details.showFunction(fn);
    else this.details.hide();
  }

  // All functions of a colour; null: none.
  pickGroup(fns) {
    this.picked = -1;
    byId('query').value = '';
    if (fns) this.search.findFunctions(fns);
    else this.search.clear();
    this.mark();
  }

  mark() {
    VIEWS.forEach((name) => this.markView(name));
    this.tellFound();
    this.remember();
  }

  markView(name) {
    this.views[name]?.mark(this.search.flags, this.picked);
  }

  tellFound() {
    byId('found').textContent = this.search.tell(this.selected);
    byId('found').title = byId('found').textContent;
  }

  step(step) {
    const call = this.search.step(this.selected, step);

    if (call < 0) return;
    if (!OF_CALLS.includes(this.name)) this.open('tree');
    this.select(call, '');
    this.showSelected();
  }

  // ---- the address

  state() {
    const { chart, flame } = this.views;
    const fn = this.name === 'graph' && this.focused >= 0 ? this.focused : this.picked;
    const hasStack = this.name === 'flame' && flame && this.stack !== undefined;
    const zoom = this.name === 'chart' && !chart.isAll() ? chart.view().map(Math.round).join('-') : '';

    return {
      view: this.name,
      id: this.selected >= 0 ? this.names.id(this.selected) : '',
      fn: fn >= 0 ? this.names.key(fn) : '',
      stack: hasStack ? this.names.stackKeys()[this.stack].toString(16) : '',
      zoom,
      find: byId('query').value.trim(),
      color: this.colors.way === this.colors.usual ? '' : this.colors.way,
    };
  }

  remember() {
    if (!this.isApplying) this.link.later(() => this.state());
  }

  // Show what a link says, as far as it is in this page.
  apply({ view, id, fn, stack, zoom, find, color }) {
    const number = fn ? this.names.functionOfKey(fn) : -1;
    const isFunction = this.trace.head.sums.some(([other]) => other === number);
    const call = id ? this.names.find(id) : -1;

    this.isApplying = true;
    if (color in this.colors.ways) this.colors.by(color);
    this.open(VIEWS.includes(view) ? view : this.firstView());
    byId('query').value = find ?? '';
    this.find(find ?? '');
    if (isFunction && this.name === 'graph') this.focus(number);
    else if (isFunction) this.pick(number);
    if (fn && !isFunction) tell(`Function ${fn} is not in this page`);
    if (id && call < 0) tell(`Call ${id} is not in this page`);
    if (call >= 0) {
      this.select(call, '');
      if (!zoom || this.name !== 'chart') this.showSelected();
    }
    const [start, end] = (zoom ?? '').split('-').map(Number);
    if (this.name === 'chart' && end > start) this.view.setView(start, end);
    if (call >= 0 && this.name === 'chart') this.view.scrollToBox(call);
    const wanted = this.name === 'flame' && stack ? this.names.stackKeys().indexOf(parseInt(stack, 16)) : -1;
    const box = wanted < 0 ? -1 : this.view.boxes.stackOf.indexOf(wanted);
    if (this.name === 'flame' && stack && box < 0) tell('That stack is not in this page');
    if (box >= 0) {
      this.view.zoomTo(box);
      this.selectStack(box);
    }
    this.isApplying = false;
  }

  firstView() {
    return this.trace.calls.n ? 'chart' : 'report';
  }

  // ---- keys and mouse

  escape() {
    if (document.activeElement === byId('query')) byId('query').blur();
    if (this.search.flags || byId('query').value) {
      byId('query').value = '';
      this.find('');
    } else if (this.view.zoomOut && !this.view.isAll()) {
      this.view.zoomOut();
    } else {
      this.unselect();
    }
  }

  // Returns whether the key is one of ours.
  key({ key, target }) {
    if (key === 'Escape') this.escape();
    else if (['INPUT', 'SELECT'].includes(target.tagName) && target.type !== 'checkbox') return false;
    else if (key === '/') byId('query').select();
    else if (key === 'n') this.step(1);
    else if (key === 'N') this.step(-1);
    else if (key === '?') byId('help').showModal();
    else if (key === 'g' && this.functionAt() >= 0) this.focus(this.functionAt());
    else if (this.details.copies[key]) this.details.copies[key]();
    else if (key === 'Backspace' && this.view.zoomBack) this.view.zoomBack();
    else if (VIEWS[key - 1]) this.go(VIEWS[key - 1]);
    else if (['A', 'BUTTON'].includes(target.tagName) && (key === 'Enter' || key === ' ')) return false;
    else if (this.view.scrollBy && key.startsWith('Page')) this.view.scrollBy(key === 'PageUp' ? -300 : 300);
    else return this.view.press?.(key) ?? false;
    return true;
  }

  // The function of what is chosen, or -1.
  functionAt() {
    if (this.selected >= 0) return this.names.instant(this.selected) ? -1 : this.names.functionOf(this.selected);
    if (this.picked >= 0) return this.picked;
    return this.name === 'flame' && this.stack !== undefined ? this.trace.stacks.fn[this.stack] : -1;
  }

  listen() {
    const query = byId('query');

    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]')) return;
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
    byId('meta').addEventListener('click', () => byId('about').showModal());
    for (const button of document.querySelectorAll('[data-view]')) {
      button.addEventListener('click', () => this.go(button.dataset.view));
    }
  }
}

async function start() {
  const loading = byId('loading');

  try {
    const trace = await readTrace((share) => { loading.textContent = `Loading ${Math.round(share * 100)} %`; });
    const page = new Page(trace);
    window.cstrace = page; // for the curious, and the tests
    tellAbout(trace, page.names);
    page.listen();
    loading.hidden = true;
    if (trace.head.n_rows) {
      page.apply(page.link.read());
    } else {
      loading.hidden = false;
      loading.textContent = whyNone(trace.head);
      document.body.classList.add('empty');
    }
    document.documentElement.dataset.ready = 'yes';
  } catch (error) {
    loading.hidden = false;
    loading.textContent = `Cannot show this page: ${error.message}`;
    throw error;
  }
}

document.addEventListener('DOMContentLoaded', start);
