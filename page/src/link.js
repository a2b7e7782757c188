// SPDX-License-Identifier: MIT
//
// What is looked at, as the address's part behind "#": a link to it shows the
// same, also in a page that the trace is saved to again.  view: which one; id:
// the call chosen; fn: the function in focus or chosen, by its name; stack: a
// hash of the names on it; zoom: the chart's time, in ns; find: the search;
// color.

const LATER_MS = 150; // browsers refuse too many changes at once

export class Link {
  // changed(state) is called when the user enters another address.
  constructor(changed) {
    this.text = window.location.hash;
    window.addEventListener('hashchange', () => {
      if (window.location.hash === this.text) return;
      this.text = window.location.hash;
      changed(this.read());
    });
  }

  read() {
    return Object.fromEntries(new URLSearchParams(window.location.hash.slice(1)));
  }

  // Writes the address soon, once for all changes of a moment; make() returns the
  // state.
  later(make) {
    this.make = make;
    this.timer ??= setTimeout(() => this.write(), LATER_MS);
  }

  // Writes the address now, and returns all of it.
  write() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.make) {
      const state = Object.entries(this.make()).filter(([, value]) => value !== undefined && value !== '');
      // A colon is safe in this part of an address, and more readable.
      this.text = `#${new URLSearchParams(state).toString().replaceAll('%3A', ':')}`;
      this.make = null;
      try {
        window.history.replaceState(null, '', this.text);
      } catch {
        // A frame without an address of its own has no links to give.
      }
    }
    return window.location.href;
  }
}
