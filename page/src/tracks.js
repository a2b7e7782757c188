// SPDX-License-Identifier: MIT
//
// The counters of a trace: each process has a track for each of its own, with
// the values in order of time.  A value holds until the next one.

const TRACK = 38;
const LINE = 20; // of it, in pixels, from the least to the greatest value
const TEXT = 13; // above
const PADDING = 4;

const VALUE = /^ = (\S+)$/;

class Track {
  constructor(fn, name, calls) {
    Object.assign(this, { fn, name, calls });
  }

  finish(trace) {
    const { start } = trace.calls;

    this.calls.sort((a, b) => start[a] - start[b] || a - b);
    this.texts = this.calls.map((call) => VALUE.exec(trace.calls.texts.get(call))[1]);
    this.times = Float64Array.from(this.calls, (call) => start[call]);
    this.values = Float64Array.from(this.texts, Number);
    this.least = this.values.reduce((a, v, i, all) => (v < all[a] ? i : a), 0);
    this.most = this.values.reduce((a, v, i, all) => (v > all[a] ? i : a), 0);
  }

  // The place of the value that holds at this time; -1: none yet.
  at(time) {
    let low = 0;
    let high = this.times.length;

    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  get range() {
    const [least, most] = [this.texts[this.least], this.texts[this.most]];
    return least === most ? least : `${least} to ${most}`;
  }
}

export function tracksOf(trace, names) {
  const { calls, head, instants } = trace;
  const tracks = new Map();

  for (const call of calls.texts.keys()) {
    const fn = names.functionOf(call);
    if (instants.get(fn) !== 'count' || !Number.isFinite(Number(VALUE.exec(calls.texts.get(call))?.[1]))) continue;
    const { process } = head.threads[calls.thread[call]];
    const name = (names.hasProcesses ? `p${process}: ` : '') + names.fn(fn).replace(/^count /, '');
    if (!tracks.has(name)) tracks.set(name, new Track(fn, name, []));
    tracks.get(name).calls.push(call);
  }
  const all = [...tracks.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  all.forEach((track) => track.finish(trace));
  return all;
}

// Draws a track at y, over the width of the engine's view.
function drawTrack(track, engine, colors, y, isFaint) {
  const { times, values } = track;
  const low = values[track.least];
  const scale = LINE / (values[track.most] - low);
  const bottom = y + TEXT + 3 + LINE;
  const toY = (value) => Math.round(bottom - (scale < Infinity ? (value - low) * scale : LINE / 2));
  let i = Math.max(0, track.at(engine.positionX));
  let x = Math.max(-2, Math.round(engine.timeToPosition(times[i])));
  let top = toY(values[i]);

  const area = (to, level) => {
    engine.setCtxValue('fillStyle', colors.track);
    engine.fillRect(x, level, to - x, bottom + 2 - level);
    engine.setCtxValue('fillStyle', isFaint ? colors.faint : colors.said);
    engine.fillRect(x, level - 1, to - x, 2);
  };
  while (x <= engine.width) {
    // Values that share a pixel: a line from the least to the greatest.
    let [high, deep] = [top, top];
    while (i + 1 < times.length && Math.round(engine.timeToPosition(times[i + 1])) <= x) {
      i++;
      top = toY(values[i]);
      high = Math.min(high, top);
      deep = Math.max(deep, top);
    }
    if (deep > high) engine.fillRect(x - 1, high - 1, 2, deep - high + 2);
    const isLast = i + 1 === times.length;
    const next = isLast ? engine.width + 2 : Math.min(engine.width + 2, Math.round(engine.timeToPosition(times[i + 1])));
    area(next, top);
    if (isLast || next > engine.width) return;
    i++;
    const before = top;
    top = toY(values[i]);
    engine.fillRect(next - 1, Math.min(before, top) - 1, 2, Math.abs(before - top) + 2);
    x = next;
  }
}

// The tracks above the boxes of a chart.
export class Tracks {
  constructor(all, colors) {
    Object.assign(this, { all, colors });
    this.isOpen = true;
  }

  // The height of all tracks and their title, in pixels.
  height(title) {
    return this.all.length ? title + (this.isOpen ? this.all.length * TRACK : 0) : 0;
  }

  // The track at y below the title, or undefined.
  find(y) {
    return this.isOpen && y >= 0 ? this.all[Math.floor(y / TRACK)] : undefined;
  }

  draw(engine, top, flags) {
    if (!this.isOpen) return;
    this.all.forEach((track, i) => {
      const y = top + i * TRACK;
      if (y < -TRACK || y > engine.height) return;
      drawTrack(track, engine, this.colors, y, flags && !flags[track.fn]);
      engine.setCtxValue('fillStyle', this.colors.text);
      engine.fillText(track.name, PADDING, y + TEXT);
      engine.setCtxValue('fillStyle', this.colors.dim);
      engine.fillText(track.range, PADDING + engine.ctx.measureText(track.name).width + 10, y + TEXT);
    });
  }
}
