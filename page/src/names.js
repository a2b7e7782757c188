// SPDX-License-Identifier: MIT
//
// What things of a trace are called.

import { OPEN, SEED, UNWOUND } from './data.js';
import { formatDuration, formatStart } from './format.js';

export class Names {
  constructor(trace) {
    this.trace = trace;
  }

  fn(id) {
    return this.trace.head.functions[id][0];
  }

  module(id) {
    return this.trace.head.functions[id][1];
  }

  functionOf(call) {
    return this.trace.siteFunction[this.trace.calls.site[call]];
  }

  ofCall(call) {
    return this.fn(this.functionOf(call));
  }

  site(call) {
    const [, line, file] = this.trace.head.sites[this.trace.calls.site[call]];
    if (!file) return '';
    const base = file.slice(file.lastIndexOf('/') + 1);
    return line ? `${base}:${line}` : base;
  }

  longSite(call) {
    const [, line, file] = this.trace.head.sites[this.trace.calls.site[call]];
    return file ? file + (line ? `:${line}` : '') : 'not known';
  }

  id(call) {
    const { calls, head } = this.trace;
    const thread = head.threads[calls.thread[call]];
    const process = thread.process > 1 ? `${thread.process}:` : '';
    return `${process}${thread.ordinal}.${calls.end[call] & SEED ? 's' : ''}${calls.number[call]}`;
  }

  thread(call) {
    const thread = this.trace.head.threads[this.trace.calls.thread[call]];
    return `${thread.name} ${thread.tid}`.trim();
  }

  lane(lane) {
    const thread = this.trace.head.threads[lane.thread];
    const process = this.trace.head.threads.some((other) => other.pid !== thread.pid)
      ? `, process ${thread.pid}` : '';
    return `${lane.name} ${thread.tid}${process}`.trim();
  }

  start(call) {
    const { calls } = this.trace;
    return calls.end[call] & SEED ? 'before' : formatStart(calls.start[call]);
  }

  duration(call) {
    const { calls } = this.trace;
    if ((calls.end[call] & ~SEED) === OPEN) return 'open';
    return formatDuration(calls.duration[call]);
  }

  end(call) {
    const { calls } = this.trace;
    const end = calls.end[call] & ~SEED;
    if (end === OPEN) return `open, ${formatDuration(calls.duration[call])} at the end of the trace`;
    return formatDuration(calls.duration[call]) + (end === UNWOUND ? ', unwound' : '');
  }

  isUnwound(call) {
    return (this.trace.calls.end[call] & ~SEED) === UNWOUND;
  }
}
