// SPDX-License-Identifier: MIT
//
// What is above the views: who recorded what, when, and what is missing.

import { formatCount, formatDuration, plural } from './format.js';

const byId = (id) => document.getElementById(id);

// Which calls were chosen, in words; empty: all.
function choiceOf({ choice }) {
  const words = [];

  if (choice.filter) words.push(`filter ${choice.filter}`);
  if (choice.exclude) words.push(`without ${choice.exclude}`);
  if (choice.root) words.push(`from call ${choice.root} on`);
  if (choice.depth) words.push(`${plural(choice.depth, 'level')}`);
  if (choice.min_ns) words.push(`${formatDuration(choice.min_ns)} or longer`);
  if (choice.thread) words.push(`thread ${choice.thread}`);
  if (choice.process) words.push(`process ${choice.process}`);
  return words.join(', ');
}

// Why there is nothing to see.
export function whyNone(head) {
  const chosen = choiceOf(head);
  const recorded = `${plural(head.n_recorded, 'call')} ${head.n_recorded === 1 ? 'was' : 'were'} recorded`;

  if (!head.n_recorded) return 'No calls were recorded.';
  if (chosen) return `No call matches: ${chosen}. (${recorded})`;
  return `No call is shown: the C++ library's are hidden, unless the page is saved with --std. (${recorded})`;
}

// What the user must know of the data.
function warnings({ head, nShown }) {
  const out = [];

  if (head.n_lost) out.push(`${plural(head.n_lost, 'record')} were lost: calls are missing.`);
  if (head.n_lost_limit) out.push(`${plural(head.n_lost_limit, 'call')} past the trace's size limit were not kept.`);
  for (const text of head.untraced) out.push(`Not traced: ${text}.`);
  if (head.is_cut) out.push('The trace file was cut short: its last calls are missing.');
  else if (!head.is_sealed) out.push('The page was saved before the recording ended, or it ended by force.');
  if (nShown < head.n_calls) {
    out.push(`${formatCount(head.n_calls)} calls are more than a page can draw. Chart and tree have the ${
      formatCount(nShown)} that took ${formatDuration(head.least_ns)} or longer (grey: there are more); flame graph, call graph and report count all.`);
  }
  if (head.n_not_stacked) {
    out.push(`${formatCount(head.n_not_stacked)} calls on deep stacks count as their callers' own time in flame graph and call graph.`);
  }
  return out;
}

function hiddenOf(head) {
  const n = head.n_recorded - head.n_calls;
  const chosen = choiceOf(head);

  if (n <= 0) return '';
  if (chosen) return `${formatCount(head.n_calls)} of ${plural(head.n_recorded, 'recorded call')} were chosen: ${chosen}`;
  return `${formatCount(n)} more of the C++ library hidden`;
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
  const chosen = choiceOf(head);
  const hidden = hiddenOf(head);
  const count = !head.n_calls ? [] : [
    plural(head.n_calls, 'call'),
    plural(threads.length, 'thread') + (pids.size > 1 ? ` in ${formatCount(pids.size)} processes` : ''),
    formatDuration(head.duration_ns),
  ];

  document.title = `${program} - cstrace`;
  byId('title').textContent = program;
  byId('meta').textContent = [...count, ...(hidden && !chosen ? [hidden] : []), date,
    ...(head.host ? [`on ${head.host}`] : [])].join(' · ');
  listOf([
    ['command', head.command],
    ['recorded', `${when.toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'long' })}`],
    ['on', head.host],
    ['took', formatDuration(head.duration_ns)],
    ['calls', `${formatCount(head.n_calls)}${hidden ? `; ${hidden}` : ''}`],
    ['functions', formatCount(head.sums.length)],
    ['threads', threads.map((thread) => {
      const { name, tid, pid } = head.threads[thread];
      return `${names.tag(thread)}: ${name} (${tid}${pids.size > 1 ? `, process ${pid}` : ''})`;
    }).join('\n')],
    ['lost', head.n_lost || head.n_lost_limit ? `${formatCount(head.n_lost)} records, ${
      formatCount(head.n_lost_limit)} calls past the size limit` : 'nothing'],
    ['page by', `cstrace ${head.version}`],
  ]);

  const notes = warnings(trace);
  byId('banner').classList.toggle('warning', notes.length > 0);
  if (chosen && hidden && head.n_calls) notes.push(`${hidden}.`);
  byId('banner').textContent = notes.join(' ');
  byId('banner').hidden = !notes.length;
}
