// SPDX-License-Identifier: MIT
//
// Folds loops: callees of one call that repeat, one function or a few in turn,
// as one row.  How often each is called within a turn may differ.

const LEAST = 3; // times
const LONGEST = 8; // functions in turn
const SLOW = 10; // times the mean

// One function after itself: calls[from] to calls[to - 1].
function repeats(calls, fnOf) {
  const out = [];

  calls.forEach((call, i) => {
    const fn = fnOf(call);
    if (out.at(-1)?.fn === fn) out.at(-1).to = i + 1;
    else out.push({ fn, from: i, to: i + 1 });
  });
  return out;
}

// How many of the repeats from `at` on go round in `period`.
function reach(all, at, period) {
  let end = at + period;

  while (end < all.length && all[end].fn === all[end - period].fn) end++;
  return Math.floor((end - at) / period) * period;
}

// The longest loop from `at` on, as [repeats, period]; [1, 1]: none.
function longest(all, at) {
  let best = [1, 1];

  for (let period = 2; period <= LONGEST && at + period < all.length; period++) {
    const length = reach(all, at, period);
    if (length >= LEAST * period && length > best[0]) best = [length, period];
  }
  return best;
}

function means(calls, from, to, fnOf, durationOf) {
  const sums = new Map();

  for (let i = from; i < to; i++) {
    const fn = fnOf(calls[i]);
    const sum = sums.get(fn) ?? { n: 0, total: 0 };
    sum.n++;
    sum.total += durationOf(calls[i]);
    sums.set(fn, sum);
  }
  return (call) => {
    const sum = sums.get(fnOf(call));
    return sum.total / sum.n;
  };
}

// calls: all callees of one call, in order.  Returns calls, and for those that
// are folded { calls, times, fns }.  What stands out is not folded: calls that
// isApart() says, and those that took ten times the mean of the others.
export function foldLoops(calls, { fnOf, durationOf, isApart }) {
  const all = repeats(calls, fnOf);
  const out = [];

  const putRepeat = ({ fn, from, to }) => {
    put(Array.from({ length: to - from + 1 }, (_, i) => from + i), [fn]);
  };

  // One turn that is not folded with others: its own repeats may be.
  const putTurn = (from, to) => {
    if (to - from === 1) {
      out.push(calls[from]);
      return;
    }
    for (const repeat of repeats(calls.slice(from, to), fnOf)) {
      putRepeat({ fn: repeat.fn, from: from + repeat.from, to: from + repeat.to });
    }
  };

  // The i-th turn goes from turns[i] to turns[i + 1].
  const put = (turns, fns) => {
    const n = turns.length - 1;
    const mean = means(calls, turns[0], turns[n], fnOf, durationOf);
    const standsOut = (call) => isApart(call) || durationOf(call) > SLOW * mean(call);
    const apart = [];

    if (n < LEAST) {
      for (let i = 0; i < n; i++) putTurn(turns[i], turns[i + 1]);
      return;
    }
    for (let i = 0; i < n; i++) {
      let k = turns[i];
      while (k < turns[i + 1] && !standsOut(calls[k])) k++;
      if (k < turns[i + 1]) apart.push(i);
    }
    if (!apart.length) {
      out.push({ calls: calls.slice(turns[0], turns[n]), times: n, fns });
      return;
    }
    // The calls between those that stand out have a mean of their own.
    let first = 0;
    for (const i of apart) {
      put(turns.slice(first, i + 1), fns);
      putTurn(turns[i], turns[i + 1]);
      first = i + 1;
    }
    put(turns.slice(first), fns);
  };

  for (let at = 0; at < all.length;) {
    const [length, period] = longest(all, at);
    const some = all.slice(at, at + length);
    if (length > 1) {
      const turns = some.filter((_, i) => i % period === 0).map(({ from }) => from);
      put([...turns, some.at(-1).to], some.slice(0, period).map(({ fn }) => fn));
    } else {
      putRepeat(some[0]);
    }
    at += length;
  }
  return out;
}
