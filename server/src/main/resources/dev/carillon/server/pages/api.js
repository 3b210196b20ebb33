// The one way to the server: the public API. Everything else in these pages asks through here.
import { useEffect, useRef, useState } from './vendor-preact-htm.js';
import { heard, now, store } from './format.js';

/** Where the API is: these pages are in ui/ below it, whatever a proxy puts in front. */
export const base = new URL('../', location.href.split('#')[0]);

const PATIENCE_MILLIS = 10_000;

/** Who asks: a cookie says it, which no script reads. */
export const session = store({ needed: false, why: '' });

/** When the server answered last, and what it failed with since. */
export const contact = store({ at: 0, problem: null });

export class Problem extends Error {
  constructor(kind, status, detail, more = {}) {
    super(detail);
    this.kind = kind;
    this.status = status;
    this.more = more;
  }
}

/** Path segments, each encoded: a name may have a slash in it. */
export const path = (...segments) => segments.map(encodeURIComponent).join('/');
export const inNamespace = (namespace, ...segments) => path('v1', 'namespaces', namespace, ...segments);

/** Query parameters; lists are repeated, what is empty is left out. */
export function query(parameters) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== '') all.append(name, String(each));
    }
  }
  const text = all.toString();
  return text ? '?' + text : '';
}

function headers(method) {
  // What a page of another site cannot send: changes without it are refused.
  return method === 'GET' ? {} : { 'Content-Type': 'application/json', 'Carillon-Page': '1' };
}

async function problemOf(response) {
  let body = {};
  try {
    body = await response.json();
  } catch { /* a proxy's own page */ }
  const kind = String(body.type ?? '').replace('urn:carillon:problem:', '') || 'http';
  if (response.status === 401) {
    if (!session.get().needed) session.set({ needed: true, why: access.get() ? 'The session is over.' : '' });
  }
  return new Problem(kind, response.status, body.detail ?? `The server answered ${response.status}.`, body);
}

/** Sends a request; the answer whatever its type. What is not 2xx is thrown. */
export async function send(method, where, { body, signal, headers: more, patience = PATIENCE_MILLIS } = {}) {
  const late = patience ? AbortSignal.timeout(patience) : null;
  const signals = [signal, late].filter(Boolean);
  let response;
  try {
    response = await fetch(new URL(where, base), {
      method,
      headers: { ...headers(method), ...more },
      body: method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify(body ?? {}),
      signal: signals.length ? AbortSignal.any(signals) : undefined,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
    });
  } catch (e) {
    if (signal?.aborted) throw e;
    const detail = late?.aborted ? `The server gave no answer within ${patience / 1_000} s.` : 'The server is not there.';
    const problem = new Problem('away', 0, detail);
    contact.set({ ...contact.get(), problem });
    throw problem;
  }
  heard(response.headers.get('Date'));
  if (!response.ok) {
    const problem = await problemOf(response);
    contact.set(problem.status >= 500 ? { ...contact.get(), problem } : { at: now(), problem: null });
    throw problem;
  }
  contact.set({ at: now(), problem: null });
  return response;
}

async function json(method, where, options) {
  const response = await send(method, where, options);
  return response.status === 204 ? null : response.json();
}

export const get = (where, signal) => json('GET', where, { signal });

/** How long the server may read for a page of a list: a short page soon is better than a long one late. */
export const WITHIN = 'PT0.3S';
const MOST_EMPTY = 8;

/** A page of a list; where nothing fits so far, the one after it, a few times. */
export async function getPage(where, signal) {
  let page = await get(where, signal);
  for (let i = 0; i < MOST_EMPTY && page.next && !page.items.length; i++) {
    page = await get(where.replace(/&cursor=[^&]*/, '') + '&cursor=' + encodeURIComponent(page.next), signal);
  }
  return page;
}

export const post = (where, body, more) => json('POST', where, { body, headers: more, patience: 30_000 });
export const put = (where, body, more) => json('PUT', where, { body, headers: more, patience: 30_000 });
export const del = (where) => json('DELETE', where, { patience: 30_000 });

/** Only while someone looks: a hidden page asks for nothing. */
const seen = (listener) => {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
};

/**
 * Asks for something, and again every so often. What was there stays while the server is away, with
 * the time at which it was true; what belongs to another key is never shown.
 */
export function useAsk(key, ask, every = 5_000) {
  const [state, set] = useState({ key: null });
  const again = useRef(() => {});
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    let over = false;
    let timer = 0;
    let controller = null;
    const run = async () => {
      clearTimeout(timer);
      controller?.abort();
      if (document.hidden || over) return;
      const mine = new AbortController();
      controller = mine;
      try {
        const data = await latest.current(mine.signal);
        if (!over && controller === mine) set({ key, data, at: now(), problem: null });
      } catch (problem) {
        if (over || controller !== mine || mine.signal.aborted) return;
        set((old) => ({ ...(old.key === key ? old : {}), key, problem }));
      }
      if (!over && controller === mine && every) timer = setTimeout(run, every);
    };
    again.current = run;
    const unseen = seen(() => (document.hidden ? (clearTimeout(timer), controller?.abort()) : run()));
    run();
    return () => {
      over = true;
      clearTimeout(timer);
      controller?.abort();
      unseen();
    };
  }, [key, every]);
  const mine = state.key === key ? state : {};
  return { ...mine, every, again: () => again.current() };
}

// ---- what the caller may

const RANK = ['viewer', 'submitter', 'operator', 'admin'];

/** True if the caller has a role, or if that is not known: the server decides in any case. */
export function may(access, role, everywhere = false) {
  const has = everywhere ? access?.everywhere : access?.role;
  if (!access) return false;
  return has !== undefined && RANK.indexOf(has) >= RANK.indexOf(role);
}

export const access = store(null);
