// SPDX-License-Identifier: MIT
//
// All of a chart in a strip above it, with a window that is what the chart
// shows: drag the window to move, its edges to zoom, elsewhere to choose anew.

const EDGE = 6; // pixels at which the mouse has an edge
const MARGIN = 4;
const MOST_ROWS = 40; // of a lane

export class Minimap {
  // chart: view(), setView(start, end), begin() before it is moved, zoomOut().
  constructor(element, boxes, colors, chart) {
    Object.assign(this, { element, boxes, colors, chart });
    this.whole = document.createElement('canvas'); // without the window
    this.rows = boxes.lanes.flatMap((lane) => [...lane.rows.slice(0, MOST_ROWS), null]);
    this.rows.pop();
    element.addEventListener('pointerdown', (event) => this.grasp(event));
    element.addEventListener('pointermove', (event) => this.move(event));
    element.addEventListener('pointerup', () => { this.grip = null; });
    element.addEventListener('dblclick', () => chart.zoomOut());
    new ResizeObserver(() => this.repaint()).observe(element);
  }

  get span() {
    return this.boxes.max - this.boxes.min;
  }

  timeAt(x) {
    const share = Math.min(Math.max(x / this.element.clientWidth, 0), 1);
    return this.boxes.min + share * this.span;
  }

  toX(time) {
    return (time - this.boxes.min) / this.span * this.element.clientWidth;
  }

  // ---- drawing

  size(canvas) {
    const { clientWidth, clientHeight } = this.element;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    const context = canvas.getContext('2d');

    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  repaint() {
    const { boxes, colors, element: { clientWidth: width, clientHeight: height } } = this;

    if (!width || !height) return;
    const context = this.size(this.whole);
    context.fillStyle = colors.back;
    context.fillRect(0, 0, width, height);
    const each = Math.min(5, (height - 2 * MARGIN) / this.rows.length);
    const view = { start: boxes.min, zoom: width / this.span, width };
    let drawn = -1;
    this.rows.forEach((row, i) => {
      const y = MARGIN + i * each;
      // Where many rows share a pixel, the first is drawn.
      if (!row || Math.floor(y) === drawn) return;
      drawn = Math.floor(y);
      const put = (color, x, w) => {
        context.fillStyle = color;
        context.fillRect(x, each < 1 ? drawn : y, w, Math.max(each, 1));
      };
      boxes.walk(row, view, (_, at, x, w) => put(boxes.colorOf(colors, at, at + 1), x, w),
        (from, to, pixel) => put(boxes.colorOf(colors, from, to), pixel, 1));
    });
    this.draw();
  }

  draw() {
    const { colors, element: { clientWidth: width, clientHeight: height } } = this;

    if (!width || !height) return;
    if (!this.whole.width) {
      this.repaint();
      return;
    }
    const context = this.size(this.element);
    const [from, to] = this.chart.view().map((time) => this.toX(time));
    context.drawImage(this.whole, 0, 0, width, height);
    if (from < 0.5 && to > width - 0.5) return;
    context.fillStyle = colors.veil;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    // Wide enough for the mouse, however narrow the view is.
    const left = Math.min(from, width - 3);
    context.strokeStyle = colors.stroke;
    context.strokeRect(left + 0.5, 0.5, Math.max(to - left - 1, 2), height - 1);
  }

  // ---- the mouse

  // What of the window is at x: an edge, its inside, or nothing.
  partAt(x) {
    const [from, to] = this.chart.view().map((time) => this.toX(time));
    const isAll = from < 0.5 && to > this.element.clientWidth - 0.5;

    if (isAll) return 'new';
    if (Math.abs(x - from) <= EDGE && to - from > EDGE) return 'start';
    if (Math.abs(x - to) <= EDGE && to - from > EDGE) return 'end';
    return x >= from - EDGE && x <= to + EDGE ? 'move' : 'new';
  }

  grasp(event) {
    if (event.button) return;
    this.element.setPointerCapture(event.pointerId);
    this.chart.begin();
    this.grip = { part: this.partAt(event.offsetX), x: event.offsetX, view: this.chart.view() };
  }

  move({ offsetX: x }) {
    if (!this.grip) {
      this.element.style.cursor = {
        start: 'ew-resize', end: 'ew-resize', move: 'grab', new: 'crosshair',
      }[this.partAt(x)];
      return;
    }
    const { part, x: begin, view: [start, end] } = this.grip;
    if (Math.abs(x - begin) < 2) return;
    if (part === 'move') {
      const step = (x - begin) / this.element.clientWidth * this.span;
      const to = Math.min(Math.max(start + step, this.boxes.min), this.boxes.max - (end - start));
      this.chart.setView(to, to + end - start);
      return;
    }
    const here = this.timeAt(x);
    const there = part === 'start' ? end : part === 'end' ? start : this.timeAt(begin);
    this.chart.setView(Math.min(here, there), Math.max(here, there));
  }
}
