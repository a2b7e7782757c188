// SPDX-License-Identifier: MIT
//
// What is above the views: who recorded what, when, and what is missing.

import { formatCount, formatDuration, plural } from './format.js';

// "1 call was", "2 calls were".
const were = (n, noun) => `${plural(n, noun)} ${n === 1 ? 'was' : 'were'}`;
const byId = (id) => document.getElementById(id);

// Why there is nothing to see.
export function whyNone(head) {
  const recorded = `${were(head.n_recorded, 'call')} recorded`;

  if (!head.n_recorded) return 'No calls were recorded: `cstrace check PROGRAM` tells why.';
  if (head.choice) return `No call matches: ${head.choice}. (${recorded})`;
  return `No call is shown: the C++ library's and system headers' are hidden, unless the page is saved with --std. (${recorded})`;
}

// What the user must know of the data.
function warnings({ head, nShown }) {
  const out = [];

  for (const text of head.losses) out.push(`${text}.`);
  for (const text of head.untraced) out.push(`Not traced: ${text}.`);
  if (head.is_cut) out.push('The trace file was cut short: its last calls are missing.');
  else if (!head.is_sealed) out.push('The recording had not ended when this page was saved, or was ended by force: calls that had not returned are open.');
  if (nShown < head.n_rows) {
    out.push(`${formatCount(head.n_rows)} ${head.n_rows > head.n_calls ? 'rows' : 'calls'} are more than a page can draw. Chart and tree have the ${
      formatCount(nShown)} that took ${formatDuration(head.least_ns)} or longer (grey: there are more); flame graph, call graph and report count all.`);
  }
  if (head.n_not_stacked) {
    out.push(`Flame graph and call graph leave out ${plural(head.n_not_stacked, 'call')} beyond ${
      formatCount(head.most_levels)} levels or ${formatCount(head.most_stacks)} different stacks: their time counts as their callers' own.`);
  }
  return out;
}

function hiddenOf(head) {
  const n = head.n_recorded - head.n_calls;

  if (n <= 0) return '';
  if (head.choice) return `${formatCount(head.n_calls)} of ${plural(head.n_recorded, 'recorded call')} were chosen: ${head.choice}`;
  return `${plural(n, 'library call')} hidden`;
}

function listOf(facts) {
  const list = byId('facts');

  for (const [what, text] of facts.filter(([, value]) => value)) {
    const dt = document.createElement('dt');
    const dd = document.createElement('dd');
    dt.textContent = what;
    dd.textContent = text;
    list.append(dt, dd);
  }
}

export function tellAbout(trace, names) {
  const { head, lanes } = trace;
  const program = head.command.replace(/^[^ ]*\//, '') || 'a trace';
  const threads = [...new Set(lanes.map(({ thread }) => thread))];
  const pids = new Set(head.threads.map(({ pid }) => pid));
  const when = new Date(Number(BigInt(head.start_wall_ns) / 1000000n));
  const date = when.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
  const hidden = hiddenOf(head);
  const spans = new Set(head.spans);
  const nSpans = head.sums.reduce((sum, [fn, n]) => sum + (spans.has(fn) ? n : 0), 0);
  const what = plural(head.n_calls, 'call') + (nSpans ? `, ${plural(nSpans, 'span')}` : '');
  const count = !head.n_rows ? [] : [
    what,
    plural(threads.length, 'thread') + (pids.size > 1 ? ` in ${formatCount(pids.size)} processes` : ''),
    `within ${formatDuration(head.duration_ns)}`,
  ];

  document.title = `${program} - cstrace`;
  byId('title').textContent = program;
  byId('title').title = head.command;
  byId('meta').textContent = [...count, ...(hidden && !head.choice ? [hidden] : []), date,
    ...(head.host ? [`on\u00a0${head.host}`] : [])].join(' · ');
  listOf([
    ['command', head.command],
    ['recorded', `${when.toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'long' })}`],
    ['on', head.host],
    ['took', formatDuration(head.duration_ns)],
    ['calls', `${formatCount(head.n_calls)}${hidden ? `; ${hidden}` : ''}`],
    ['spans', nSpans ? formatCount(nSpans) : ''],
    ['functions', formatCount(head.sums.filter(([fn]) => !spans.has(fn)).length)],
    ['threads', threads.map((thread) => {
      const { name, tid, pid } = head.threads[thread];
      return `${names.tag(thread)}: ${name} (${tid}${pids.size > 1 ? `, process ${pid}` : ''})`;
    }).join('\n')],
    ['lost', head.losses.join(', ') || 'none'],
    ['page by', `cstrace ${head.version}`],
  ]);

  const notes = warnings(trace);
  byId('banner').classList.toggle('warning', notes.length > 0);
  if (head.choice && hidden && head.n_calls) notes.push(`${hidden}.`);
  byId('banner').textContent = notes.join(' ');
  byId('banner').hidden = !notes.length;
}
