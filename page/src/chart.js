// SPDX-License-Identifier: MIT
//
// A flame chart: boxes on flame-chart-js's canvas, which knows zoom, mouse,
// keys and text.  Its own plugin for boxes goes through all of them for each
// frame, so ours stands in for it.

import { FlameChartContainer, UIPlugin } from 'flame-chart-js';
import { formatMark } from './format.js';

const ROW = 18;
const TITLE = 20;
const FONT = '12px system-ui, sans-serif';
// As much as is seen at least, or there would be no end of zooming.
const LEAST_NS = 20;

class Ruler extends UIPlugin {
  constructor() {
    super('ruler');
    this.height = 20;
  }

  render() {
    const engine = this.renderEngine;
    const grid = engine.parent.timeGrid;

    grid.renderLines(0, engine.height, engine);
    engine.setCtxValue('fillStyle', engine.styles.fontColor);
    engine.setCtxFont(engine.styles.font);
    grid.forEachTime((x, time) => {
      engine.fillText(formatMark(time, grid.delta), x + 4, 14);
    });
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
    let y = 0;
    this.tops = boxes.lanes.map((lane) => {
      const top = y + (lane.title ? TITLE : 0);
      y = top + lane.depth * ROW + 6;
      return top;
    });
    this.contentHeight = y;
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
      if (box >= 0) this.listener.clicked(box);
    });
    interactionsEngine.on('hover', (region) => {
      this.hovered = region ? this.boxUnderMouse() : -1;
    });
  }

  scrollTo(y) {
    const room = Math.max(0, this.contentHeight - this.renderEngine.height);
    this.positionY = Math.min(Math.max(0, y), room);
  }

  topOf(box) {
    const lane = this.boxes.lanes.findIndex(({ first, n }) => box >= first && box < first + n);
    return this.tops[lane] + this.boxes.level[box] * ROW;
  }

  boxUnderMouse() {
    const { x, y: mouseY } = this.interactionsEngine.getMouse();
    const engine = this.renderEngine;
    const y = mouseY + this.positionY;

    for (const [i, lane] of this.boxes.lanes.entries()) {
      const level = Math.floor((y - this.tops[i]) / ROW);
      if (level >= 0 && level < lane.depth) {
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
    this.boxes.lanes.forEach((lane, i) => {
      const top = this.tops[i] - this.positionY;
      const from = Math.max(0, Math.floor(-top / ROW));
      const to = Math.min(lane.depth, Math.ceil((engine.height - top) / ROW));
      for (let level = from; level < to; level++) this.drawRow(lane.rows[level], top + level * ROW);
      if (lane.title && top > 0 && top < engine.height + TITLE) this.drawTitle(lane.title, top - TITLE);
    });
    if (this.selected >= 0) this.drawSelected();
    this.drawScrollbar();
    this.interactionsEngine.addHitRegion('boxes', null, 0, 0, engine.width, engine.height);
  }

  drawRow(row, y) {
    const { boxes, colors, renderEngine: engine } = this;
    const { zoom, positionX } = engine;
    const end = positionX + engine.width / zoom;
    let at = boxes.seek(row, row.from, positionX);
    // Boxes below a pixel, as one.
    let run = null;

    const flush = () => {
      if (run) this.addBox(run.isHit ? colors.manyHits : colors.many, run.x, y, run.end - run.x);
      run = null;
    };
    while (at < row.to) {
      const box = boxes.order[at];
      const x = (boxes.start[box] - positionX) * zoom;
      const w = boxes.duration[box] * zoom;
      if (boxes.start[box] > end) break;
      if (w >= 1) {
        flush();
        this.drawBox(box, at, x, y, w);
        at++;
        continue;
      }
      const pixel = Math.floor(x);
      const next = boxes.seek(row, at + 1, positionX + (pixel + 1) / zoom);
      const isHit = Boolean(boxes.hits) && boxes.hasHit(at, next);
      if (run && (pixel > run.end || isHit !== run.isHit)) flush();
      run = run ?? { x: pixel, isHit };
      run.end = pixel + 1;
      at = next;
    }
    flush();
  }

  addBox(color, x, y, w) {
    // Cut: a box of millions of pixels is not for a canvas.
    const left = Math.max(x, -2);
    const right = Math.min(x + w, this.renderEngine.width + 2);

    this.renderEngine.addRect({ color, x: left, y, w: right - left, h: ROW - 1 });
    return { x: left, w: right - left };
  }

  drawBox(box, at, x, y, w) {
    const { boxes, colors } = this;
    const isFaint = boxes.hits && !boxes.hasHit(at, at + 1);
    const color = isFaint ? colors.faint : colors.all[boxes.fn(box)];
    const cut = this.addBox(color, x, y, w > 3 ? w - 1 : w);

    if (cut.w > 24) {
      this.renderEngine.addText({ text: this.label(box), x: cut.x, y, w: cut.w }, 1);
    }
  }

  drawTitle(title, y) {
    const engine = this.renderEngine;

    engine.addText({ text: title, x: 0, y: y + 2, w: engine.width }, 1);
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
      }, 2);
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
    }, 3);
  }
}

export class Chart {
  // label(box) is its text; listener: clicked(box), hovered(box, mouse).
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
      hovered: (box, mouse) => listener.hovered(box, mouse, section),
    });
    this.container = new FlameChartContainer({
      canvas: section.querySelector('canvas'),
      plugins: [new Ruler(), this.plugin],
      settings: this.settings(),
    });
    new ResizeObserver(() => this.fit()).observe(section);
    section.addEventListener('wheel', (event) => this.wheel(event), { capture: true, passive: false });
    section.addEventListener('mouseleave', () => listener.hovered(-1));
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
        timeGrid: { color: colors.line },
      },
    };
  }

  get engine() {
    return this.container.renderEngine;
  }

  recolor() {
    this.container.setSettings(this.settings());
  }

  fit() {
    const { clientWidth, clientHeight } = this.section;
    if (clientWidth && clientHeight) this.container.resize(clientWidth, clientHeight);
  }

  setKeys(isOn) {
    this.container.hotkeys(isOn);
    if (!isOn) this.container.interactionsEngine.keys = {};
  }

  wheel(event) {
    if (!event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.scrollBy(event.deltaY || event.deltaX);
  }

  scrollBy(pixels) {
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

    this.container.setZoom(from, from + width);
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
    this.container.render();
  }

  // Bring a box into view, wide enough to be seen.
  show(box) {
    const { engine, plugin, boxes } = this;
    const start = boxes.start[box];
    const end = boxes.endOf(box);
    const [from, to] = this.view();
    const y = plugin.topOf(box) - plugin.positionY;
    const height = plugin.renderEngine.height;

    if (start < from || end > to || (end - start) * engine.zoom < 30) {
      const around = Math.max(end - start, LEAST_NS) * 2;
      this.setView(start - around, end + around);
    }
    if (y < 0 || y + ROW > height) plugin.scrollTo(plugin.positionY + y - height / 2);
    this.container.render();
  }

  mark(flags) {
    this.boxes.mark(flags);
    this.container.render();
  }
}
