// SPDX-License-Identifier: MIT
//
// What things of a trace are called: functions, calls, threads, places.

import { hash } from './colors.js';
import { ESTIMATED, OPEN, SEED, UNWOUND } from './data.js';
import { formatDuration, formatStart, STOPPED } from './format.js';
import { tracksOf } from './tracks.js';

const NESTS = { '(': 1, '<': 1, '[': 1, '{': 1, ')': -1, '>': -1, ']': -1, '}': -1 };

// Where each part of a qualified name begins: what "::" parts, but for what is
// in brackets.  An operator ends it: "<<" is no bracket.
export function partsOf(name) {
  const parts = [];
  let depth = 0;
  let at = 0;

  for (let i = 0; i < name.length; i++) {
    if (!depth && i === at && /^operator(?!\w)/.test(name.slice(i, i + 9))) break;
    depth += NESTS[name[i]] ?? 0;
    if (!depth && name.startsWith('::', i)) {
      parts.push(name.slice(at, i));
      i += 1;
      at = i + 1;
    }
  }
  parts.push(name.slice(at));
  return parts;
}

// "shop::Till::sell" -> ["sell", "shop::Till"].  A lambda is named with the
// function that it is in.
export function splitName(name) {
  const parts = partsOf(name);
  let own = parts.pop();

  if (own.startsWith('operator()') && parts.at(-1)?.startsWith('{lambda')) own = parts.pop();
  if (own.startsWith('{') && parts.length) own = `${parts.pop()}::${own}`;
  return [own, parts.join('::')];
}

// Where the parameters of a function's own name begin, or -1.
function parametersAt(own) {
  let depth = 0;

  for (let i = /^operator(?:\(\)|\[\]|[^\w\s(]+)?/.exec(own)?.[0].length ?? 1; i < own.length; i++) {
    if (!depth && own[i] === '(') return i;
    depth += NESTS[own[i]] ?? 0;
  }
  return -1;
}

const base = (path) => path.slice(path.lastIndexOf('/') + 1);

export class Names {
  constructor(trace) {
    this.trace = trace;
    // What an exception says may have any signs in it.
    this.split = trace.head.functions.map(([name], fn) => (trace.instants.has(fn) ? [name, ''] : undefined));
    const pids = new Set(trace.head.threads.map(({ pid }) => pid));
    this.hasProcesses = pids.size > 1;
  }

  // A function's name as rows have it, and with all that the linker knows.
  fn(id) {
    return this.trace.head.functions[id][0];
  }

  full(id) {
    return this.trace.head.functions[id][3] ?? this.fn(id);
  }

  own(id) {
    return (this.split[id] ??= splitName(this.fn(id)))[0];
  }

  qualifier(id) {
    return (this.split[id] ??= splitName(this.fn(id)))[1];
  }

  // A function's name in links; others of that name have a number more.
  key(id) {
    if (!this.keys) {
      const n = new Map();
      this.keys = this.trace.head.functions.map((_, fn) => {
        const name = this.full(fn);
        n.set(name, (n.get(name) ?? 0) + 1);
        return n.get(name) > 1 ? `${name}~${n.get(name)}` : name;
      });
    }
    return this.keys[id];
  }

  // The function with this key, or -1.
  functionOfKey(key) {
    this.key(0);
    return this.keys.indexOf(key);
  }

  // A number for the path of names that a stack is.
  stackKeys() {
    const { n, parent, fn } = this.trace.stacks;

    if (!this.stackHashes) {
      const own = this.trace.head.functions.map((_, id) => hash(this.key(id)));
      this.stackHashes = new Uint32Array(n);
      for (let i = 0; i < n; i++) {
        const above = parent[i] < 0 ? 0 : this.stackHashes[parent[i]];
        this.stackHashes[i] = Math.imul(above ^ own[fn[i]], 0x9e3779b1) + own[fn[i]];
      }
    }
    return this.stackHashes;
  }

  module(id) {
    return this.trace.head.functions[id][1];
  }

  file(id) {
    return this.trace.head.functions[id][2];
  }

  // What a function belongs to, by which it has its colour: its class or
  // namespace, else its file.
  group(id) {
    const qualifier = this.qualifier(id);

    if (/^(std|__gnu_cxx)\b/.test(qualifier)) return 'std';
    if (qualifier) return qualifier;
    const file = this.file(id);
    return file ? base(file) : this.module(id) || 'no file known';
  }

  // A function's name in three: what it belongs to, its own, its parameters.
  parts(id) {
    const name = this.fn(id);
    const own = this.own(id);
    const at = name.lastIndexOf(own);
    const cut = this.trace.instants.has(id) ? -1 : parametersAt(own);
    const end = at + (cut > 0 ? cut : own.length);
    return [name.slice(0, at), name.slice(at, end), name.slice(end)];
  }

  // Its values as rows have them, or what a message says.
  text(call) {
    return this.trace.calls.texts.get(call) ?? '';
  }

  // What an exception does or the program says, "throw" or "log" for instance,
  // and no call; or undefined.
  instant(call) {
    return this.trace.instants.get(this.functionOf(call));
  }

  functionOf(call) {
    return this.trace.siteFunction[this.trace.calls.site[call]];
  }

  // The counters of each process.
  tracks() {
    return (this.allTracks ??= tracksOf(this.trace, this));
  }

  // The track with this call's value, or undefined.
  trackOf(call) {
    if (this.instant(call) !== 'count') return undefined;
    return this.tracks().find(({ calls }) => calls.includes(call));
  }

  ofCall(call) {
    const text = this.text(call);
    return this.instant(call) === 'log' && text ? text : this.fn(this.functionOf(call)) + text;
  }

  // Where the nearest caller that is shown called from, as rows have it.
  site(call) {
    const [, line, file] = this.trace.head.sites[this.trace.calls.from[call]];
    if (!file) return '';
    return line ? `${base(file)}:${line}` : base(file);
  }

  longSite(call, sites = this.trace.calls.from) {
    const [, line, file] = this.trace.head.sites[sites[call]];
    return file ? file + (line ? `:${line}` : '') : 'not known';
  }

  // The call was made by a jump at its caller's end.
  isTail(call) {
    return Boolean(this.trace.head.sites[this.trace.calls.site[call]][3]);
  }

  id(call) {
    const { calls, head } = this.trace;
    const thread = head.threads[calls.thread[call]];
    const process = thread.process > 1 ? `${thread.process}:` : '';
    return `${process}${thread.ordinal}.${calls.end[call] & SEED ? 's' : ''}${calls.number[call]}`;
  }

  // The call with this ID, or -1.
  find(id) {
    const { calls, head } = this.trace;
    const found = /^(?:(\d+):)?(\d+)\.(s?)(\d+)$/.exec(id);

    if (!found) return -1;
    const process = Number(found[1] ?? 1);
    const thread = head.threads.findIndex(
      (other) => other.process === process && other.ordinal === Number(found[2]));
    const number = Number(found[4]);
    const seed = found[3] ? SEED : 0;
    for (let i = 0; i < calls.n; i++) {
      if (calls.number[i] === number && calls.thread[i] === thread && (calls.end[i] & SEED) === seed) return i;
    }
    return -1;
  }

  // "t2", or "p3:t1" where there are several processes.
  tag(thread) {
    const { process, ordinal } = this.trace.head.threads[thread];
    return this.hasProcesses ? `p${process}:t${ordinal}` : `t${ordinal}`;
  }

  thread(call) {
    const index = this.trace.calls.thread[call];
    const thread = this.trace.head.threads[index];
    return `${this.tag(index)} ${thread.name} (${thread.tid})`;
  }

  lane(lane) {
    const { tid } = this.trace.head.threads[lane.thread];
    return `${this.tag(lane.thread)}: ${lane.name} (${tid})`;
  }

  start(call) {
    const { calls } = this.trace;
    return calls.end[call] & SEED ? 'before' : formatStart(calls.start[call]);
  }

  isOpen(call) {
    return (this.trace.calls.end[call] & ~SEED) === OPEN;
  }

  // The call had returned by its end, but nobody saw when.
  isEstimated(call) {
    return (this.trace.calls.end[call] & ~SEED) === ESTIMATED;
  }

  isUnwound(call) {
    return (this.trace.calls.end[call] & ~SEED) === UNWOUND;
  }

  // Whether a call, or one that it led to, is not like others: it was left by
  // an exception, or had not returned, or gdb stopped the program meanwhile, or
  // something was thrown or caught.
  isOdd(call) {
    if (!this.odd) {
      const { n, parent } = this.trace.calls;
      this.odd = new Uint8Array(n);
      for (let i = n - 1; i >= 0; i--) {
        if (this.isUnwound(i) || this.isOpen(i) || this.isStopped(i) || this.instant(i)) this.odd[i] = 1;
        if (this.odd[i] && parent[i] >= 0) this.odd[parent[i]] = 1;
      }
    }
    return Boolean(this.odd[call]);
  }

  isStopped(call) {
    return this.trace.calls.stops.has(call);
  }

  // Whether a stop lies in what a call did itself.
  isOwnStopped(call) {
    const { calls } = this.trace;
    let n = calls.stops.get(call) ?? 0;

    for (let i = call + 1; n && i < calls.next[call]; i = calls.next[i]) n -= calls.stops.get(i) ?? 0;
    return n > 0;
  }

  duration(call) {
    if (this.isOpen(call)) return 'open';
    return (this.isEstimated(call) ? '~' : '') + formatDuration(this.trace.calls.duration[call]);
  }

  // Of what takes no time, how long the span is that begins or ends there.
  durationOfInstant(call) {
    const { asyncs } = this.trace.calls;

    if (!asyncs.has(call)) return '-';
    return this.isOpen(call) ? 'open' : formatDuration(asyncs.get(call));
  }

  end(call) {
    const { asyncs, duration: durations } = this.trace.calls;
    const duration = formatDuration(asyncs.get(call) ?? durations[call]);

    if (this.isOpen(call)) return `open, ${duration} at the end of the trace`;
    return duration + (this.isUnwound(call) ? ', unwound' : '') + (this.isStopped(call) ? `, ${STOPPED}` : '');
  }

  // A call's own time, without its callees'.  Where some of these are not in
  // the page it is no more than that.
  self(call) {
    if (!this.selves) {
      const { n, duration, parent } = this.trace.calls;
      this.selves = duration.slice();
      for (let i = 0; i < n; i++) if (parent[i] >= 0) this.selves[parent[i]] -= duration[i];
    }
    return Math.max(0, this.selves[call]);
  }

  selfText(call) {
    return `${this.trace.calls.without.has(call) ? '≤ ' : ''}${formatDuration(this.self(call))}`;
  }

  // A call and its callers, the outermost first.
  stack(call) {
    const stack = [];

    for (let i = call; i >= 0; i = this.trace.calls.parent[i]) stack.unshift(i);
    return stack;
  }

  // As rows of the tree, to be pasted elsewhere.
  stackText(call) {
    const stack = this.stack(call);
    const width = Math.max(...stack.map((i) => this.id(i).length));

    return stack.map((i, depth) => {
      const site = this.site(i);
      return `${this.id(i).padEnd(width)}  ${'  '.repeat(depth)}${this.ofCall(i)}${site ? `  ${site}` : ''}${
        this.isTail(i) ? '  (tail call)' : ''}\n`;
    }).join('');
  }
}
