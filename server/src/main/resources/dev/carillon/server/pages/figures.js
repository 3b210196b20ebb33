// The meters of the asked node, over time. Samples live in this tab; a gap in them is shown as a gap.
import { now, store } from './format.js';
import { base, send } from './api.js';

const KEPT_MILLIS = 15 * 60_000;
const GAP_MILLIS = 20_000;
const KEY = 'carillon.samples.' + base.pathname;

const LINE = /^(carillon_[a-z_]+)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-z]+)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES = { n: '\n', '"': '"', '\\': '\\' };

function labels(text) {
  const all = {};
  for (const [, name, value] of (text ?? '').matchAll(LABEL)) {
    all[name] = value.replace(/\\(.)/g, (_, c) => ESCAPES[c] ?? c);
  }
  return all;
}

const number = (text) => (text === '+Inf' ? Infinity : text === 'NaN' ? NaN : Number(text));

const PLAIN = new Set(['carillon_jobs_scheduled_total', 'carillon_attempts_started_total', 'carillon_attempts_failed_total', 'carillon_attempts_running', 'carillon_slots', 'carillon_jobs_pending', 'carillon_jobs_ready', 'carillon_jobs_blocked', 'carillon_clock_offset', 'carillon_commits_full_total', 'carillon_commits_unknown_total', 'carillon_shards_refused', 'carillon_shards_owned', 'carillon_shards_loaded', 'carillon_problems', 'carillon_members_fenced_total', 'carillon_operations_queued', 'carillon_callers_waiting']);

/** What Prometheus would read, in the form that these pages need. */
export function parse(text) {
  const all = { plain: {}, ended: {}, queues: {}, waiting: [] };
  const waits = new Map();
  const queue = (tags) => (all.queues[tags.queue] ??= { started: 0, ended: 0, seconds: 0, failed: 0, dead: 0, within: {}, took: {} });
  for (const line of text.split('\n')) {
    const found = LINE.exec(line);
    if (!found) continue;
    const [, name, inner, value] = found;
    const n = number(value);
    if (PLAIN.has(name)) {
      all.plain[name.slice(9).replace(/_total$/, '')] = n;
      continue;
    }
    if (!inner) continue;
    const tags = labels(inner);
    if (name === 'carillon_jobs_ended_total') all.ended[tags.outcome] = n;
    else if (name === 'carillon_jobs_lateness_within_total') add(queue(tags).within, tags.le, n);
    else if (name === 'carillon_jobs_duration_within_total') add(queue(tags).took, tags.le, n);
    else if (name === 'carillon_jobs_lateness_seconds_count') queue(tags).started += n;
    else if (name === 'carillon_jobs_duration_seconds_count') queue(tags).ended += n;
    else if (name === 'carillon_jobs_duration_seconds_sum') queue(tags).seconds += n;
    else if (name === 'carillon_jobs_attempts_failed_total') queue(tags).failed += n;
    else if (name === 'carillon_jobs_dead_total') queue(tags).dead += n;
    else if (name === 'carillon_jobs_waiting' || name === 'carillon_jobs_waiting_oldest') {
      const key = JSON.stringify([tags.namespace, tags.queue, tags.type, tags.reason]);
      const each = waits.get(key) ?? { ...tags, jobs: 0, oldest: 0 };
      if (name === 'carillon_jobs_waiting') each.jobs = n;
      else each.oldest = Number.isNaN(n) ? 0 : n;
      waits.set(key, each);
    }
  }
  all.waiting = [...waits.values()].filter((each) => each.jobs > 0);
  return all;
}

function add(buckets, le, n) {
  buckets[le] = (buckets[le] ?? 0) + n;
}

/** Seconds that a part of the attempts stayed within; between two bounds it is a guess. */
export function quantile(part, newer, older = {}) {
  const bounds = Object.keys(newer).map((le) => [le === '+Inf' ? Infinity : Number(le), newer[le] - (older[le] ?? 0)]);
  bounds.sort((a, b) => a[0] - b[0]);
  const total = bounds.length ? bounds[bounds.length - 1][1] : 0;
  if (!(total > 0)) return NaN;
  const wanted = part * total;
  let below = 0;
  let start = 0;
  for (const [le, n] of bounds) {
    if (n >= wanted) {
      if (le === Infinity) return start;
      return n === below ? le : start + ((le - start) * (wanted - below)) / (n - below);
    }
    below = n;
    start = le;
  }
  return start;
}

export function merged(figures, kind, only) {
  const all = {};
  for (const [name, queue] of Object.entries(figures.queues)) {
    if (only !== undefined && name !== only) continue;
    for (const [le, n] of Object.entries(queue[kind])) add(all, le, n);
  }
  return all;
}

// ---- samples

let samples = [];
try {
  samples = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
} catch { /* none */ }
export const latest = store(null);

const failures = (figures) => figures.plain.attempts_failed ?? 0;
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

/** What charts need of a reading; a node that began again makes counters smaller. */
function sample(at, figures) {
  return { at, started: figures.plain.attempts_started ?? 0, ended: sum(figures.ended), failed: failures(figures), dead: figures.ended.dead ?? 0, ready: figures.plain.jobs_ready ?? NaN, running: figures.plain.attempts_running ?? NaN, blocked: figures.plain.jobs_blocked ?? 0, full: figures.plain.commits_full ?? 0, oldest: Math.max(0, ...figures.waiting.filter((w) => w.reason === 'slot').map((w) => w.oldest)), within: merged(figures, 'within') };
}

/** Asks for the meters and keeps them. */
export async function readFigures(signal) {
  const response = await send('GET', 'metrics', { signal });
  const figures = parse(await response.text());
  const at = now();
  const next = sample(at, figures);
  const before = samples[samples.length - 1];
  if (before && (next.started < before.started || at < before.at)) samples = [];
  if (!before || at - before.at > 900) samples = [...samples.filter((each) => at - each.at < KEPT_MILLIS), next];
  try {
    sessionStorage.setItem(KEY, JSON.stringify(samples));
  } catch { /* full, or not allowed: the charts begin again after a reload */ }
  latest.set({ at, figures });
  return figures;
}

/** Between two readings: how much a second, and percentiles; a gap where nobody asked. */
export function series() {
  const columns = { at: [], started: [], ended: [], failed: [], ready: [], running: [], oldest: [], p50: [], p99: [] };
  for (let i = 1; i < samples.length; i++) {
    const [a, b] = [samples[i - 1], samples[i]];
    const seconds = (b.at - a.at) / 1_000;
    const gap = b.at - a.at > GAP_MILLIS;
    columns.at.push(gap ? (a.at + 1) / 1_000 : b.at / 1_000);
    for (const name of ['started', 'ended', 'failed']) columns[name].push(gap ? null : (b[name] - a[name]) / seconds);
    for (const name of ['ready', 'running', 'oldest']) columns[name].push(gap || Number.isNaN(b[name]) ? null : b[name]);
    for (const [name, part] of [['p50', 0.5], ['p99', 0.99]]) {
      const q = gap ? NaN : quantile(part, b.within, a.within);
      columns[name].push(Number.isNaN(q) ? null : q);
    }
  }
  return columns;
}

/** What changed in about the last so many milliseconds; null before two readings. */
export function lately(millis = 60_000) {
  const last = samples[samples.length - 1];
  if (!last) return null;
  const first = samples.find((each) => last.at - each.at <= millis) ?? last;
  const seconds = (last.at - first.at) / 1_000;
  if (seconds < 1) return null;
  const minus = (name) => last[name] - first[name];
  return { seconds, started: minus('started'), ended: minus('ended'), failed: minus('failed'), dead: minus('dead'), full: minus('full'), p50: quantile(0.5, last.within, first.within), p99: quantile(0.99, last.within, first.within), running: last.running, ready: last.ready, alwaysRan: samples.filter((each) => each.at >= first.at).every((each) => each.running > 0) };
}

/** Since when there are samples. */
export const since = () => samples[0]?.at;
