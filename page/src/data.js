// SPDX-License-Identifier: MIT
//
// Reads the pieces that the engine put behind the page (cshim/engine/formats/html*.c)
// into columns.  Calls stand in order of entry, lane after lane: what a call
// called follows it, up to its `next`.

import { decompress } from 'fzstd';

export const OPEN = 0;
export const UNWOUND = 2;
export const ESTIMATED = 3;
export const SEED = 4;

const utf8 = new TextDecoder();

class Cursor {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    const { bytes } = this;
    let value = 0;
    let scale = 1;
    let byte;

    do {
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }

  text(n) {
    this.at += n;
    return utf8.decode(this.bytes.subarray(this.at - n, this.at));
  }

  column(into, at, n, decode = (v) => v) {
    for (let i = at; i < at + n; i++) into[i] = decode(this.number());
  }
}

function unpack(node) {
  const text = atob(node.textContent);
  const bytes = new Uint8Array(text.length);

  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  node.remove();
  return decompress(bytes);
}

// Let the browser draw and answer the user now and then.
let rested = 0;

async function rest(tell, share) {
  if (performance.now() - rested < 100) return;
  tell(share);
  await new Promise((done) => { setTimeout(done); });
  rested = performance.now();
}

async function unpackAll(tell) {
  const nodes = [...document.querySelectorAll('script[type="text/x-cstrace"]')];
  const pieces = { head: [], stacks: [], calls: [], end: [] };

  for (const [i, node] of nodes.entries()) {
    pieces[node.className].push(unpack(node));
    await rest(tell, i / nodes.length);
  }
  return pieces;
}

function readStacks(pieces) {
  const read = pieces.map((bytes) => new Cursor(bytes));
  const sizes = read.map((cursor) => cursor.number());
  const n = sizes.reduce((a, b) => a + b, 0);
  const stacks = {
    n,
    parent: new Int32Array(n),
    fn: new Uint32Array(n),
    calls: new Float64Array(n),
    total: new Float64Array(n),
    self: new Float64Array(n),
    stopped: new Float64Array(n), // calls that gdb stopped the program in
    ownStops: new Float64Array(n), // its stops in the function's own code
  };
  let i = 0;

  read.forEach((cursor, k) => {
    for (const end = i + sizes[k]; i < end; i++) {
      stacks.parent[i] = cursor.number() - 1;
      stacks.fn[i] = cursor.number();
      stacks.calls[i] = cursor.number();
      stacks.total[i] = cursor.number();
      stacks.self[i] = cursor.number();
      stacks.stopped[i] = cursor.number();
      stacks.ownStops[i] = cursor.number();
    }
  });
  return stacks;
}

function makeCalls(n) {
  return {
    n,
    site: new Uint32Array(n),
    from: new Uint32Array(n), // the site whose place is in the caller that is shown
    start: new Float64Array(n),
    duration: new Float64Array(n),
    number: new Float64Array(n),
    thread: new Uint32Array(n),
    end: new Uint8Array(n),
    depth: new Uint32Array(n), // from 0
    parent: new Int32Array(n), // -1: none
    next: new Uint32Array(n), // behind the last of its callees
    without: new Map(), // callees that are left out
    texts: new Map(), // values, and what messages say
    stops: new Map(), // how often gdb stopped the program in a call
    asyncs: new Map(), // how long a span is that begins or ends there, maybe elsewhere
  };
}

// Starts and numbers are differences, over the pieces of a lane.
function addUp(column, at, n, first, step) {
  let value = first;

  for (let i = at; i < at + n; i++) {
    value += column[i] + step;
    column[i] = value;
  }
}

const unzigzag = (v) => (v % 2 ? -(v + 1) / 2 : v / 2);

function readPiece(cursor, n, calls, at, lane) {
  const isFirst = at === lane.first;

  cursor.column(calls.depth, at, n); // pops, until link()
  cursor.column(calls.site, at, n);
  cursor.column(calls.from, at, n);
  for (let i = at; i < at + n; i++) calls.from[i] = calls.from[i] ? calls.from[i] - 1 : calls.site[i];
  cursor.column(calls.start, at, n);
  addUp(calls.start, at, n, isFirst ? 0 : calls.start[at - 1], 0);
  cursor.column(calls.duration, at, n);
  cursor.column(calls.number, at, n, unzigzag);
  addUp(calls.number, at, n, isFirst ? 0 : calls.number[at - 1], 1);
  cursor.column(calls.thread, at, n);
  for (let i = at; i < at + n; i++) {
    const end = cursor.number();
    calls.end[i] = end % 8;
    if (end >= 8) calls.stops.set(i, Math.floor(end / 8));
  }
  for (let left = cursor.number(); left > 0; left--) {
    const place = cursor.number();
    calls.without.set(lane.first + place, cursor.number());
  }
  for (let left = cursor.number(); left > 0; left--) {
    const place = cursor.number();
    calls.texts.set(lane.first + place, cursor.text(cursor.number()));
  }
}

// From how many calls were over before each: parents, depths, ends of subtrees.
function link(calls, lane) {
  const end = lane.first + lane.n;
  const open = [];

  for (let i = lane.first; i < end; i++) {
    for (let pops = calls.depth[i]; pops > 0; pops--) calls.next[open.pop()] = i;
    calls.parent[i] = open.length ? open.at(-1) : -1;
    calls.depth[i] = open.length;
    lane.depth = Math.max(lane.depth, open.length + 1);
    open.push(i);
  }
  for (const i of open) calls.next[i] = end;
}

async function readCalls(pieces, lanes, tell) {
  const read = pieces.map((bytes) => {
    const cursor = new Cursor(bytes);
    return { cursor, lane: cursor.number(), n: cursor.number(), isFirst: cursor.number() };
  });
  const calls = makeCalls(read.reduce((sum, piece) => sum + piece.n, 0));
  const shown = [];
  let at = 0;

  for (const piece of read) {
    if (piece.isFirst) {
      const { thread, name } = lanes[piece.lane];
      shown.push({ first: at, n: 0, depth: 0, thread, name });
    }
    const lane = shown.at(-1);
    readPiece(piece.cursor, piece.n, calls, at, lane);
    at += piece.n;
    lane.n += piece.n;
    await rest(tell, at / calls.n);
  }
  shown.forEach((lane) => link(calls, lane));
  return { calls, lanes: shown.filter((lane) => lane.n) };
}

// A span that may end in any thread is none of the boxes around its begin.
function takeAsyncs(calls, instants, siteFunction) {
  if (![...instants.values()].includes('async')) return;
  for (let i = 0; i < calls.n; i++) {
    if (instants.get(siteFunction[calls.site[i]]) !== 'async') continue;
    if (calls.duration[i]) calls.asyncs.set(i, calls.duration[i]);
    calls.duration[i] = 0;
  }
}

// Calls tell(share) while it reads.
export async function readTrace(tell) {
  if (!document.querySelector('script.end')) {
    throw new Error('this file is cut short: save the trace again');
  }
  const pieces = await unpackAll((share) => tell(share / 2));
  const head = JSON.parse(new TextDecoder().decode(pieces.head[0]));
  const { calls, lanes } = await readCalls(pieces.calls, head.lanes, (share) => tell((1 + share) / 2));
  const end = new Cursor(pieces.end[0]);
  const instants = new Map(head.instants);
  const siteFunction = Uint32Array.from(head.sites, (site) => site[0]);

  // What an exception does, or the program says, has no time of its own, and is
  // no function's call.
  takeAsyncs(calls, instants, siteFunction);
  head.sums = head.sums.filter(([fn]) => !instants.has(fn));
  return {
    head,
    instants, // by function that is none, what it does: "throw", "log", ...
    calls,
    lanes,
    stacks: readStacks(pieces.stacks),
    siteFunction,
    nShown: end.number(),
    nLost: end.number(),
  };
}
