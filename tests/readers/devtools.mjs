// SPDX-License-Identifier: MIT
//
// node devtools.mjs TRACE.json: the tracks as the performance panel of Chrome's
// DevTools understands them, as one JSON text.

import { readFileSync } from 'node:fs';

// What the engine expects of a browser.
globalThis.window = globalThis;
globalThis.DOMRect = class {};

const { Processor } = await import('@paulirish/trace_engine');
const engine = Processor.TraceProcessor.createWithAllHandlers();
const { traceEvents } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
await engine.parse(traceEvents, { isFreshRecording: false, metadata: {} });

const tracks = [];
for (const [pid, { threads }] of engine.data.Renderer.processes) {
  for (const [tid, { name, tree }] of threads) {
    const calls = [];
    // Not by itself: stacks are deep.
    const todo = [...tree?.roots ?? []].reverse().map((node) => [node, null]);
    while (todo.length) {
      const [{ entry, children }, parent] = todo.pop();
      calls.push({ name: entry.name, id: entry.args.id, parent, ts: entry.ts, dur: entry.dur });
      for (const child of [...children].reverse()) todo.push([child, entry.args.id]);
    }
    tracks.push({ pid, tid, name, calls });
  }
}
process.stdout.write(JSON.stringify(tracks));
