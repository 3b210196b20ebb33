// Figures of all nodes over time, as the API has them, in the form that charts and tables need.
import { get } from './api.js';

export const RANGES = [['PT10M', '10 min'], ['PT2H', '2 h'], ['PT72H', '3 days']];

export const readPast = (range) => (signal) => get('v1/cluster/figures?range=' + range, signal);
export const readLateness = (range) => (signal) => get('v1/cluster/lateness?range=' + range, signal);

/** Columns for charts: rates a second; where no node told anything stands a gap. */
export function columns(past) {
  const all = { at: [], started: [], ended: [], failed: [], ready: [], running: [], p50: [], p99: [] };
  if (!past) return all;
  const step = past.at.length > 1 ? Math.min(...past.at.slice(1).map((at, i) => at - past.at[i])) : 1;
  past.at.forEach((at, i) => {
    if (i && at - past.at[i - 1] > Math.max(2 * step, past.gathered[i] + step)) {
      all.at.push(past.at[i - 1] + step);
      for (const name of Object.keys(all)) if (name !== 'at') all[name].push(null);
    }
    all.at.push(at);
    for (const name of ['started', 'ended', 'failed']) all[name].push(past[name][i] / Math.max(1, past.gathered[i]));
    for (const name of ['ready', 'running', 'p50', 'p99']) all[name].push(past[name][i]);
  });
  return all;
}

/** The last so many seconds in sums; null before there is anything. */
export function lately(past, seconds = 60) {
  if (!past?.at.length) return null;
  const end = past.at[past.at.length - 1];
  const first = past.at.findIndex((at) => at > end - seconds);
  const sum = (name) => past[name].slice(first).reduce((a, b) => a + b, 0);
  const most = (name) => past[name].slice(first).reduce((a, b) => Math.max(a, b ?? 0), 0);
  return { seconds: Math.max(1, sum('gathered')), started: sum('started'), ended: sum('ended'), failed: sum('failed'), dead: sum('dead'), p50: most('p50'), p99: most('p99'), ready: past.ready[past.ready.length - 1], blocked: past.blocked[past.blocked.length - 1], alwaysRan: past.running.slice(first).every((n) => n > 0) };
}

/** Of each queue how many started and how late, over all columns. */
export function byQueue(lateness) {
  const all = {};
  for (const { queue, cells } of lateness?.queues ?? []) {
    const counts = lateness.bounds.map(() => 0).concat(0);
    for (let i = 0; i < cells.length; i += 3) counts[cells[i + 1]] += cells[i + 2];
    all[queue] = { started: counts.reduce((a, b) => a + b, 0), p99: quantile(0.99, counts, lateness.bounds) };
  }
  return all;
}

/** Seconds within which a part of them started; between two bounds it is a guess. */
function quantile(part, counts, bounds) {
  const wanted = part * counts.reduce((a, b) => a + b, 0);
  let below = 0;
  for (let i = 0; i < bounds.length; i++) {
    const start = i ? bounds[i - 1] : 0;
    if (counts[i] && below + counts[i] >= wanted) return start + ((bounds[i] - start) * (wanted - below)) / counts[i];
    below += counts[i];
  }
  return wanted ? bounds[bounds.length - 1] : NaN;
}

/** What waits, with the reason of the oldest of each kind in the node's own words. */
export const readWaiting = (where) => async (signal) => {
  const told = await get(where, signal);
  const oldest = {};
  for (const row of told.items) if (TOLD.has(row.reason) && !(oldest[row.reason]?.oldestDue < row.oldestDue)) oldest[row.reason] = row;
  await Promise.all(
    Object.values(oldest).map(async (row) => {
      try {
        row.why = (await get(`v1/namespaces/${encodeURIComponent(row.namespace)}/jobs/${row.example}/why`, signal)).reasons[0];
      } catch { /* it has started meanwhile */ }
    }),
  );
  return told;
};

const TOLD = new Set(['PAUSED', 'NO_HANDLER', 'UNFIT', 'KEY', 'LIMIT', 'RATE', 'ALONE', 'TRANSACTION', 'STORE', 'NODE', 'SHARD']);
