// Times, durations and numbers in words. Nothing here knows the API.
import { useEffect, useState } from './vendor-preact-htm.js';

/** A value that components watch. */
export function store(value) {
  const watchers = new Set();
  return {
    get: () => value,
    set(next) {
      value = next;
      watchers.forEach((watcher) => watcher());
    },
    use() {
      const [, draw] = useState(0);
      useEffect(() => {
        const watcher = () => draw((n) => n + 1);
        watchers.add(watcher);
        return () => watchers.delete(watcher);
      }, []);
      return value;
    },
  };
}

/** What the browser remembers between visits. Without storage it remembers nothing. */
export function kept(name, standard) {
  const key = 'carillon.' + name;
  let value = standard;
  try {
    value = localStorage.getItem(key) ?? standard;
  } catch { /* not allowed here */ }
  const inner = store(value);
  return {
    ...inner,
    set(next) {
      try {
        localStorage.setItem(key, next);
      } catch { /* not allowed here */ }
      inner.set(next);
    },
  };
}

// ---- the server's clock: the browser's may be wrong

const clock = { offset: 0 };
const OFFSET_THAT_MATTERS = 3_000;
export const clockOffset = store(0);

/** Takes over the time of an answer, which has whole seconds. */
export function heard(date) {
  const at = Date.parse(date);
  if (Number.isNaN(at)) return;
  const offset = at + 500 - Date.now();
  const next = Math.abs(offset) > OFFSET_THAT_MATTERS ? offset : 0;
  if (Math.abs(next - clock.offset) > OFFSET_THAT_MATTERS || (next === 0) !== (clock.offset === 0)) {
    clock.offset = next;
    clockOffset.set(next);
  }
}

export const now = () => Date.now() + clock.offset;

/** Draws again each second while the page is seen. */
export function useTick(millis = 1_000) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || tick((n) => n + 1), millis);
    return () => clearInterval(timer);
  }, [millis]);
}

// ---- durations

const UNITS = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1_000, 's']];

/** In at most two units: 450 ms, 3.2 s, 4 min 10 s, 2 d 3 h. */
export function duration(millis) {
  const sign = millis < 0 ? '−' : '';
  const ms = Math.abs(millis);
  if (ms < 1) return ms === 0 ? '0 s' : sign + trim(ms.toFixed(2)) + ' ms';
  if (ms < 1_000) return sign + Math.round(ms) + ' ms';
  if (ms < 10_000) return sign + trim((ms / 1_000).toFixed(1)) + ' s';
  let rest = Math.round(ms / 1_000) * 1_000;
  const parts = [];
  for (const [size, unit] of UNITS) {
    const n = Math.floor(rest / size);
    if (n > 0 || parts.length > 0) parts.push([n, unit]);
    rest -= n * size;
  }
  return sign + parts.slice(0, 2).filter(([n]) => n > 0).map(([n, unit]) => n + ' ' + unit).join(' ');
}

const trim = (text) => text.replace(/\.?0+$/, '');

/** The milliseconds of PT1H30M and the like. */
export function isoMillis(text) {
  const found = /^(-)?P(?:(\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?$/.exec(text ?? '');
  if (!found) return NaN;
  const [, sign, d = 0, h = 0, m = 0, s = 0] = found;
  return (sign ? -1 : 1) * (((+d * 24 + +h) * 60 + +m) * 60 + +s) * 1_000;
}

export const isoDuration = (text) => {
  const millis = isoMillis(text);
  return Number.isNaN(millis) ? String(text) : duration(millis);
};

// ---- times

/** How times are shown: relative, local or utc. */
export const timeStyle = kept('times', 'relative');

const pad = (n, width = 2) => String(n).padStart(width, '0');

/** 2026-11-19 16:04:05 +01:00, never ambiguous. */
export function exact(time, zone = timeStyle.get() === 'utc' ? 'utc' : 'local') {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return String(time);
  if (zone === 'utc') return at.toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
  const offset = -at.getTimezoneOffset();
  const sign = offset < 0 ? '−' : '+';
  const away = sign + pad(Math.floor(Math.abs(offset) / 60)) + ':' + pad(Math.abs(offset) % 60);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())} ${away}`;
}

/** 14:05, for axes. */
export const clockTime = (millis) => (timeStyle.get() === 'utc' ? new Date(millis).toISOString().slice(11, 16) : new Date(millis).toTimeString().slice(0, 5));

/** in 3 min, 12 s ago. */
export function relative(time) {
  const away = new Date(time).getTime() - now();
  if (Number.isNaN(away)) return String(time);
  if (Math.abs(away) < 1_000) return 'now';
  const words = duration(Math.abs(away) < 10_000 ? Math.round(away / 1_000) * 1_000 : away).replace('−', '');
  return away > 0 ? 'in ' + words : words + ' ago';
}

// ---- numbers

export const count = (n) => (n === undefined || n === null || Number.isNaN(n) ? '–' : Math.round(n).toLocaleString('en-US'));

export function rate(n) {
  if (n === undefined || n === null || Number.isNaN(n)) return '–';
  return n >= 100 || n === 0 ? count(n) : n >= 10 ? n.toFixed(1) : n.toFixed(2);
}

export const plural = (n, one, many = one + 's') => `${count(n)} ${Math.round(n) === 1 ? one : many}`;

export const states = ['SCHEDULED', 'READY', 'RUNNING', 'WAITING', 'PAUSED', 'BLOCKED', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED', 'DEAD'];
const ENDED = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED', 'DEAD']);
export const hasEnded = (state) => ENDED.has(state);
