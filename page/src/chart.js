// SPDX-License-Identifier: MIT
//
// A flame chart: boxes on flame-chart-js's canvas, which knows zoom, mouse,
// keys and text.  Its own plugin for boxes goes through all of them for each
// frame, so ours stands in for it.

import { FlameChartContainer, UIPlugin } from 'flame-chart-js';
import { formatMark, plural } from './format.js';
import { Minimap } from './minimap.js';
import { Tracks } from './tracks.js';
import { Touch } from './touch.js';

const ROW = 19;
const TITLE = 22;
const BASE = 13; // of a row's text
const PADDING = 4;
const GAP = 8;
const MOMENT = 3; // pixels
const MARK = 110; // pixels from one on the ruler to the next, or more
const FONT = '11px system-ui, sans-serif';
// The shortest time that fills the view: zooming ends there.
const LEAST_NS = 20;
const FIRST_ROWS = 24;

// Round times, not too near to each other: mark(x, time, step).
function forEachMark(engine, mark) {
  const least = MARK / engine.zoom;
  const ten = 10 ** Math.floor(Math.log10(least));
  const step = ten * [1, 2, 5, 10].find((times) => ten * times >= least);
  const end = engine.positionX + engine.getRealView();

  for (let i = Math.ceil(engine.positionX / step); i * step <= end; i++) {
    mark(Math.round(engine.timeToPosition(i * step)), i * step, step);
  }
}

function drawLines(engine, color) {
  engine.setCtxValue('fillStyle', color);
  forEachMark(engine, (x) => engine.fillRect(x, 0, 1, engine.height));
}

class Ruler extends UIPlugin {
  constructor(colors) {
    super('ruler');
    this.colors = colors;
    this.height = 20;
  }

  render() {
    const engine = this.renderEngine;

    drawLines(engine, this.colors.line);
    engine.setCtxValue('fillStyle', this.colors.dim);
    engine.setCtxFont(engine.styles.font);
    forEachMark(engine, (x, time, step) => engine.fillText(formatMark(time, step), x + 4, 14));
    return true;
  }
}

class BoxesPlugin extends UIPlugin {
  constructor(boxes, colors, label, listener) {
    super('boxes');
    Object.assign(this, { boxes, colors, label, listener });
    this.height = 'flexible';
    this.min = boxes.min;
    this.max = boxes.max;
    this.positionY = 0;
    this.selected = -1;
    this.hovered = -1;
    this.tracks = new Tracks(boxes.tracks ?? [], colors);
    this.labels = [];
    this.widths = new Map();
    // Rows of each lane that are shown: one deep stack must not hide the rest.
    const most = boxes.lanes.length > 1 ? FIRST_ROWS : Infinity;
    this.shown = boxes.lanes.map(({ depth }) => Math.min(depth, most));
    this.place();
  }

  place() {
    let y = this.tracks.height(TITLE);

    this.tops = this.boxes.lanes.map((lane, i) => {
      const top = y + (lane.title ? TITLE : 0);
      y = top + this.shown[i] * ROW + 6;
      return top;
    });
    this.contentHeight = y;
  }

  // A click on a lane's title: all of it, or its first row.
  fold(lane) {
    const { depth } = this.boxes.lanes[lane];

    this.shown[lane] = this.shown[lane] === depth ? 1 : depth;
    this.place();
    this.renderEngine.parent.render();
  }

  foldTracks() {
    this.tracks.isOpen = !this.tracks.isOpen;
    this.place();
    this.renderEngine.parent.render();
  }

  init(renderEngine, interactionsEngine) {
    super.init(renderEngine, interactionsEngine);
    interactionsEngine.on('change-position', ({ deltaX, deltaY }) => {
      interactionsEngine.setCursor('grabbing');
      this.scrollTo(this.positionY + deltaY);
      renderEngine.tryToChangePosition(deltaX);
      renderEngine.parent.render();
    });
    interactionsEngine.on('up', () => interactionsEngine.clearCursor());
    interactionsEngine.on('select', () => {
      const box = this.boxUnderMouse();
      const title = this.titleUnderMouse();
      const { track, call } = this.trackUnderMouse();
      if (box >= 0) this.listener.clicked(box);
      else if (call >= 0) this.listener.clickedValue(call);
      else if (!track && this.isTracksTitle()) this.foldTracks();
      else if (title >= 0) this.fold(title);
    });
    interactionsEngine.on('hover', (region) => {
      this.hovered = region ? this.boxUnderMouse() : -1;
      if (region && this.hovered < 0) this.hovered = this.trackUnderMouse().call;
    });
  }

  scrollTo(y) {
    const room = Math.max(0, this.contentHeight - this.renderEngine.height);
    this.positionY = Math.min(Math.max(0, y), room);
  }

  laneOf(box) {
    return this.boxes.lanes.findIndex(({ first, n }) => box >= first && box < first + n);
  }

  isFolded(box) {
    return this.boxes.level[box] >= this.shown[this.laneOf(box)];
  }

  topOf(box) {
    return this.tops[this.laneOf(box)] + this.boxes.level[box] * ROW;
  }

  titleUnderMouse() {
    const y = this.interactionsEngine.getMouse().y + this.positionY;
    return this.tops.findIndex((top, i) => this.boxes.lanes[i].title && y >= top - TITLE && y < top);
  }

  isTracksTitle() {
    const y = this.interactionsEngine.getMouse().y + this.positionY;
    return this.tracks.all.length > 0 && y >= 0 && y < TITLE;
  }

  // The track, and the call that set the value there; -1: none had.
  trackUnderMouse() {
    const { x, y } = this.interactionsEngine.getMouse();
    const engine = this.renderEngine;
    const track = this.tracks.find(y + this.positionY - TITLE);
    const call = track?.calls[track.at(engine.positionX + (x + 1) / engine.zoom)] ?? -1;

    return { track, call };
  }

  boxUnderMouse() {
    const { x, y: mouseY } = this.interactionsEngine.getMouse();
    const engine = this.renderEngine;
    const y = mouseY + this.positionY;

    for (const [i, lane] of this.boxes.lanes.entries()) {
      const level = Math.floor((y - this.tops[i]) / ROW);
      if (level >= 0 && level < this.shown[i]) {
        return this.boxes.find(lane.rows[level], engine.positionX + x / engine.zoom, 1 / engine.zoom);
      }
    }
    return -1;
  }

  renderTooltip() {
    this.listener.hovered(this.hovered, this.interactionsEngine.getGlobalMouse());
    return true;
  }

  render() {
    const engine = this.renderEngine;

    this.scrollTo(this.positionY);
    drawLines(engine, this.colors.line);
    this.boxes.lanes.forEach((lane, i) => {
      const top = this.tops[i] - this.positionY;
      const from = Math.max(0, Math.floor(-top / ROW));
      const to = Math.min(this.shown[i], Math.ceil((engine.height - top) / ROW));
      for (let level = from; level < to; level++) this.drawRow(lane.rows[level], top + level * ROW);
    });
    if (this.selected >= 0 && !this.isFolded(this.selected)) this.drawSelected();
    this.drawScrollbar();
    this.interactionsEngine.addHitRegion('boxes', null, 0, 0, engine.width, engine.height);
    engine.resolveQueue();
    this.drawMoments();
    this.drawLabels();
    this.drawTracks();
    this.boxes.lanes.forEach((lane, i) => {
      const top = this.tops[i] - this.positionY;
      if (lane.title && top > 0 && top < engine.height + TITLE) this.drawTitle(i, top - TITLE);
    });
    this.listener.drawn();
    return true;
  }

  drawRow(row, y) {
    const { boxes, colors, renderEngine: engine } = this;
    // The boxes below a pixel that are not drawn yet; they become one.
    let run = null;

    const flush = () => {
      if (run) this.addBox(run.color, run.x, y, run.end - run.x);
      run = null;
    };
    const view = { start: engine.positionX, zoom: engine.zoom, width: engine.width };
    boxes.walk(row, view, (box, at, x, w) => {
      flush();
      this.drawBox(box, at, x, y, w);
    }, (from, to, pixel) => {
      const color = boxes.colorOf(colors, from, to);
      if (run && (pixel > run.end || color !== run.color)) flush();
      run = run ?? { x: pixel, color };
      run.end = pixel + 1;
    });
    flush();
  }

  addBox(color, x, y, w, priority = 1) {
    // A canvas cannot draw a box of millions of pixels: it is cut to the view.
    const left = Math.max(x, -2);
    const right = Math.min(x + w, this.renderEngine.width + 2);

    this.renderEngine.addRect({ color, x: left, y, w: right - left, h: ROW - 1 }, priority);
    return { x: left, w: right - left };
  }

  drawBox(box, at, x, y, w) {
    const { boxes, colors } = this;
    const cut = this.addBox(boxes.colorOf(colors, at, at + 1), x, y, w > 3 ? w - 1 : w);
    const mark = boxes.markOf?.(box);

    if (cut.w > 2 * PADDING + 8) this.labels.push({ box, x: Math.max(cut.x, 0), y, w: cut.x < 0 ? cut.w + cut.x : cut.w });
    if (mark && x + w <= this.renderEngine.width + 2) {
      this.addBox(colors[mark], x + Math.max(w - 4, 0), y, Math.min(3, w), 2);
    }
    if (boxes.hasMore?.(box)) this.addBox(colors.more, x, y + ROW, w, 0);
  }

  // Draws what takes no time as lines of a fixed width.
  drawMoments() {
    const { boxes, colors, renderEngine: engine } = this;
    const { start, level, flags } = boxes;
    let last = -1;
    let drawnAt = NaN;

    for (const box of boxes.moments ?? []) {
      const x = Math.round(engine.timeToPosition(start[box]));
      if (x < -MOMENT || x > engine.width) continue;
      // They may be many: one for each pixel of a row is enough.
      if (x === drawnAt && level[box] === level[last] && start[box] >= start[last]) continue;
      last = box;
      drawnAt = x;
      const y = this.topOf(box) - this.positionY;
      if (y < -ROW || y > engine.height || this.isFolded(box)) continue;
      engine.setCtxValue('fillStyle', !flags || flags[boxes.fn(box)] ? colors.all[boxes.fn(box)] : colors.faint);
      engine.fillRect(x - 1, y, MOMENT, ROW - 1);
    }
  }

  widthOf(text) {
    let width = this.widths.get(text);

    if (width === undefined) {
      width = this.renderEngine.ctx.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  // As much of the text as there is room for, from its beginning.
  cut(text, room) {
    const width = this.widthOf(text);

    if (width <= room) return text;
    // A letter alone says nothing.
    for (let n = Math.floor(room / width * text.length); n > 1; n--) {
      const cut = `${text.slice(0, n)}…`;
      if (this.widthOf(cut) <= room) return cut;
    }
    return '';
  }

  // A function's own name comes first; where there is room, what it belongs to
  // and other things behind it.
  drawLabels() {
    const { renderEngine: engine, colors } = this;

    engine.setCtxFont(engine.styles.font);
    for (const { box, x, y, w } of this.labels) {
      let room = w - 2 * PADDING;
      let left = x + PADDING;
      for (const [i, part] of this.label(box).entries()) {
        const text = i ? part : this.cut(part, room);
        const width = this.widthOf(text);
        if (!i && !text) break;
        if (width > room) continue;
        engine.setCtxValue('fillStyle', i ? colors.ontop : colors.text);
        engine.fillText(text, left, y + BASE);
        left += width + GAP;
        room -= width + GAP;
      }
    }
    this.labels = [];
  }

  drawTracks() {
    const engine = this.renderEngine;
    const { tracks, boxes, positionY } = this;
    const n = tracks.all.length;

    if (positionY > tracks.height(TITLE)) return;
    engine.setCtxFont(engine.styles.font);
    tracks.draw(engine, TITLE - positionY, boxes.flags);
    engine.setCtxValue('fillStyle', this.colors.dim);
    if (n) engine.fillText(`${tracks.isOpen ? '▾' : '▸'} ${plural(n, 'counter')}`, PADDING, TITLE - 6 - positionY);
  }

  drawTitle(i, y) {
    const engine = this.renderEngine;
    const { title, depth } = this.boxes.lanes[i];
    const isWhole = this.shown[i] === depth;
    const text = `${isWhole ? '▾' : '▸'} ${title}${isWhole ? '' : ` (${this.shown[i]} of ${depth} levels)`}`;

    engine.setCtxFont(engine.styles.font);
    engine.setCtxValue('fillStyle', this.colors.dim);
    engine.fillText(text, PADDING, y + TITLE - 6);
  }

  drawSelected() {
    const { boxes, renderEngine: engine } = this;
    const x = (boxes.start[this.selected] - engine.positionX) * engine.zoom;
    const w = boxes.duration[this.selected] * engine.zoom;
    const left = Math.max(x, -4);
    const right = Math.min(x + Math.max(w - 1, 2), engine.width + 4);

    if (right > 0 && left < engine.width) {
      engine.addStroke({
        color: this.colors.stroke,
        x: left + 0.5,
        y: this.topOf(this.selected) - this.positionY + 0.5,
        w: right - left - 1,
        h: ROW - 2,
      }, 3);
    }
  }

  drawScrollbar() {
    const engine = this.renderEngine;
    const share = engine.height / this.contentHeight;

    if (share >= 1) return;
    engine.addRect({
      color: this.colors.bar,
      x: engine.width - 6,
      y: this.positionY * share,
      w: 5,
      h: Math.max(16, engine.height * share),
    }, 4);
  }
}

export class Chart {
  // label(box) is its texts, the most important first; listener: clicked(box),
  // hovered(box, mouse, section), moved().
  constructor(section, boxes, colors, label, listener) {
    this.section = section;
    this.boxes = boxes;
    this.colors = colors;
    this.zooms = [];
    this.plugin = new BoxesPlugin(boxes, colors, label, {
      clicked: (box) => {
        this.zoomTo(box);
        listener.clicked(box);
      },
      clickedValue: (call) => listener.clicked(call),
      hovered: (box, mouse) => listener.hovered(box, mouse, section),
      drawn: () => {
        this.minimap?.draw();
        listener.moved();
      },
    });
    this.container = new FlameChartContainer({
      canvas: section.querySelector('canvas'),
      plugins: [new Ruler(colors), this.plugin],
      settings: this.settings(),
    });
    new ResizeObserver(() => this.fit()).observe(section);
    section.addEventListener('wheel', (event) => this.wheel(event), { capture: true, passive: false });
    this.touch = new Touch(this, section.querySelector('canvas'));
    section.addEventListener('mouseleave', () => this.leave());
    // For the library, a mouse that leaves without having moved has clicked
    // once more, as when a key opens another view.
    section.querySelector('canvas').addEventListener('mouseleave', () => {
      this.container.interactionsEngine.mouseDownPosition = null;
    }, { capture: true });
  }

  settings() {
    const { colors } = this;

    return {
      options: { timeUnits: 'ns' },
      styles: {
        main: {
          blockHeight: ROW,
          font: FONT,
          fontColor: colors.text,
          backgroundColor: colors.back,
        },
      },
    };
  }

  // Nothing is below the mouse any more: it, or what was there, has moved.
  leave() {
    this.plugin.hovered = -1;
    this.plugin.renderTooltip();
  }

  get engine() {
    return this.container.renderEngine;
  }

  recolor() {
    this.container.setSettings(this.settings());
    this.container.render();
    this.minimap?.repaint();
  }

  // Draws all of the chart into an element, with a window that is the view.
  addMinimap(element) {
    this.minimap = new Minimap(element, this.boxes, this.colors, {
      view: () => this.view(),
      setView: (start, end) => this.setView(start, end),
      begin: () => this.zooms.push(this.view()),
      zoomOut: () => this.zoomOut(),
    });
  }

  // Takes the size of the section, and shows the same time as before.
  fit() {
    const { section, engine } = this;

    // The library forgets what to do first if a frame is asked for already.
    if (engine.lastGlobalAnimationFrame) requestAnimationFrame(() => this.fit());
    else if (section.clientWidth && section.clientHeight) engine.render(() => this.resize());
  }

  resize() {
    const { section: { clientWidth, clientHeight }, engine } = this;
    const [start, end] = this.view();
    const isAsWide = engine.width === clientWidth;

    if (!clientWidth || !clientHeight) return;
    engine.resize(clientWidth, clientHeight);
    if (isAsWide) return;
    engine.setPositionX(start);
    engine.setZoom(clientWidth / (end - start));
  }

  // The library's keys, which move and zoom; while a box is chosen the arrows
  // are for the boxes.
  setKeys(isWanted) {
    const isOn = isWanted && this.plugin.selected < 0;

    this.wantsKeys = isWanted;
    this.container.hotkeys(isOn);
    if (!isOn) this.container.interactionsEngine.keys = {};
  }

  // Returns whether the key is one for boxes.
  press(key) {
    const { boxes, plugin } = this;
    const { selected } = plugin;

    if (key === 'Enter') {
      if (selected >= 0) this.zoomTo(selected);
      else this.choose(this.firstInView());
      return true;
    }
    if (selected < 0 || !key.startsWith('Arrow')) return false;
    this.choose(boxes.near(boxes.lanes[plugin.laneOf(selected)], selected, key));
    return true;
  }

  choose(box) {
    if (box < 0) return;
    this.plugin.listener.clicked(box);
    this.show(box);
  }

  firstInView() {
    const { boxes } = this;
    const [from, to] = this.view();

    for (const { rows: [row] } of boxes.lanes) {
      const at = row ? boxes.seek(row, row.from, from) : 0;
      if (row && at < row.to && boxes.start[boxes.order[at]] <= to) return boxes.order[at];
    }
    return -1;
  }

  wheel(event) {
    if (!event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.scrollBy(event.deltaY || event.deltaX);
  }

  scrollBy(pixels) {
    this.leave();
    this.plugin.scrollTo(this.plugin.positionY + pixels);
    this.container.render();
  }

  view() {
    return [this.engine.positionX, this.engine.positionX + this.engine.getRealView()];
  }

  setView(start, end) {
    const { boxes } = this;
    const least = Math.min(LEAST_NS, boxes.max - boxes.min);
    const width = Math.min(Math.max(end - start, least), boxes.max - boxes.min);
    const from = Math.min(Math.max(start - Math.max(0, least - (end - start)) / 2, boxes.min), boxes.max - width);

    this.leave();
    this.container.setZoom(from, from + width);
  }

  // All of the time is in view.
  isAll() {
    const [start, end] = this.view();
    return end - start >= (this.boxes.max - this.boxes.min) * 0.9999;
  }

  zoomTo(box) {
    const start = this.boxes.start[box];

    this.zooms.push(this.view());
    this.setView(start, start + this.boxes.duration[box]);
  }

  zoomBack() {
    const view = this.zooms.pop();
    if (view) this.setView(...view);
  }

  zoomOut() {
    this.zooms.push(this.view());
    this.setView(this.boxes.min, this.boxes.max);
  }

  select(box) {
    this.plugin.selected = box;
    this.setKeys(this.wantsKeys);
    this.container.render();
  }

  // Bring a box into view, wide enough to be seen.
  show(box) {
    const { engine, plugin, boxes } = this;
    const start = boxes.start[box];
    const end = boxes.endOf(box);
    const [from, to] = this.view();

    if (start < from || end > to || (end - start) * engine.zoom < 30) {
      const around = Math.max(end - start, LEAST_NS) * 2;
      this.setView(start - around, end + around);
    }
    this.scrollToBox(box);
  }

  scrollToBox(box) {
    const { plugin } = this;
    if (plugin.isFolded(box)) plugin.fold(plugin.laneOf(box));
    const y = plugin.topOf(box) - plugin.positionY;
    const height = plugin.renderEngine.height;

    if (y < 0 || y + ROW > height) plugin.scrollTo(plugin.positionY + y - height / 2);
    this.container.render();
  }

  mark(flags) {
    this.boxes.mark(flags);
    this.container.render();
    this.minimap?.repaint();
  }
}
