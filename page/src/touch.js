// SPDX-License-Identifier: MIT
//
// Fingers on a chart: one moves it, two also zoom.

export class Touch {
  constructor(chart, canvas) {
    this.chart = chart;
    this.canvas = canvas;
    this.fingers = new Map();
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, ({ pointerId }) => this.fingers.delete(pointerId));
    }
  }

  // Where a finger is, in the canvas.
  place({ clientX, clientY }) {
    const { left, top } = this.canvas.getBoundingClientRect();

    return [clientX - left, clientY - top];
  }

  down(event) {
    if (event.pointerType !== 'touch') return;
    this.isStill = true;
    this.fingers.set(event.pointerId, this.place(event));
  }

  // The point between the fingers, and how far they are apart.
  grip() {
    const [[x, y], [x2, y2] = [x, y]] = [...this.fingers.values()];

    return { x: (x + x2) / 2, y: (y + y2) / 2, spread: Math.hypot(x2 - x, y2 - y) };
  }

  // The time below the fingers stays below them.
  move(event) {
    if (!this.fingers.has(event.pointerId)) return;
    if (this.isStill) this.chart.zooms.push(this.chart.view());
    this.isStill = false;
    const was = this.grip();
    this.fingers.set(event.pointerId, this.place(event));
    const now = this.grip();
    const { clientWidth: width } = this.canvas;
    const [start, end] = this.chart.view();
    const time = start + was.x / width * (end - start);
    const span = (end - start) * (was.spread && now.spread ? was.spread / now.spread : 1);
    const from = time - now.x / width * span;

    this.chart.setView(from, from + span);
    if (was.y !== now.y) this.chart.scrollBy(was.y - now.y);
  }
}
