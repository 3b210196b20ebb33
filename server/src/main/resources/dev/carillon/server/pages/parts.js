// Small parts that all pages are made of. Text is always a child of an element: Preact escapes it.
import { html, useEffect, useRef, useState } from './vendor-preact-htm.js';
import { duration, exact, now, relative, store, timeStyle, useTick } from './format.js';

export { html };

// ---- the address: #/NAMESPACE/PAGE/…?query

export function address() {
  const [path, search = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const segments = path.split('/').filter(Boolean).map(safeDecode);
  return { namespace: segments[0] || 'default', page: segments[1] || 'overview', rest: segments.slice(2), query: new URLSearchParams(search), text: location.hash };
}

function safeDecode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function link(namespace, page, rest = [], query = null) {
  const all = [namespace, page, ...rest].map(encodeURIComponent).join('/');
  const text = query ? new URLSearchParams(query).toString() : '';
  return '#/' + all + (text ? '?' + text : '');
}

export function go(to, replace = false) {
  if (replace) location.replace(to);
  else location.hash = to;
}

// ---- time

/** Later than this is no time: it waits for something else. */
const FAR = Date.parse('3000-01-01T00:00:00Z');

/** A time, relative or exact; the other one on hover and for screen readers. */
export function Time({ at, style }) {
  useTick();
  const kind = timeStyle.use();
  if (!at || Date.parse(at) > FAR) return html`<span class="faint">–</span>`;
  const isExact = style === 'exact' || kind !== 'relative';
  const text = isExact ? exact(at) : relative(at);
  return html`<time dateTime=${new Date(at).toISOString()} title=${isExact ? relative(at) : exact(at, 'local') + '\n' + exact(at, 'utc')}>${text}</time>`;
}

export function Elapsed({ since }) {
  useTick();
  return html`<span>${duration(Math.max(0, now() - new Date(since).getTime()))}</span>`;
}

// ---- words

const TONES = { SCHEDULED: 'calm', READY: 'busy', RUNNING: 'run', WAITING: 'calm', PAUSED: 'warn', BLOCKED: 'warn', SUCCEEDED: 'good', FAILED: 'bad', CANCELLED: 'off', EXPIRED: 'off', DEAD: 'bad', THERE: 'good', LEAVING: 'warn', DRAINING: 'warn', GONE: 'off' };

export const State = ({ state, note }) =>
  html`<span class=${'state ' + (TONES[state] ?? 'calm')}><i aria-hidden="true"></i>${state ? state.toLowerCase() : '–'}${note ? html` <small>${note.toLowerCase().replace('_', ' ')}</small>` : null}</span>`;

/** Text by users: isolated, so that right-to-left marks in it change nothing around it. */
export const Text = ({ text, kind = '' }) => html`<bdi class=${'users ' + kind} title=${text}>${text}</bdi>`;

export function Copy({ text, what }) {
  const [done, set] = useState(false);
  const copy = () => navigator.clipboard?.writeText(text).then(() => (set(true), setTimeout(() => set(false), 1_500)));
  return html`<button type="button" class="icon" aria-label=${'Copy ' + what} title=${'Copy ' + what} onClick=${copy}>${done ? '✓' : html`<svg viewBox="0 0 16 16" aria-hidden="true"><rect x="5.500" y="5.500" width="8" height="8" rx="1.500" /><path d="M10.500 3.500v-.500a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h.500" /></svg>`}</button>`;
}

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

export const Card = ({ title, more, children, kind = '' }) => html`
  <section class=${'card ' + kind}>
    ${title ? html`<header><h2>${title}</h2>${more ? html`<div class="more">${more}</div>` : null}</header>` : null}
    ${children}
  </section>`;

export const Facts = ({ facts }) => html`
  <dl class="facts">${facts.filter(Boolean).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

export const Figure = ({ label, value, note, tone = '', to }) => {
  const inner = html`<span class="label">${label}</span><strong class=${tone}>${value}</strong><small>${note ?? ' '}</small>`;
  return to ? html`<a class="figure" href=${to}>${inner}</a>` : html`<div class="figure">${inner}</div>`;
};

/** A table that scrolls by itself where it is too wide, and can be reached by keyboard then. */
export const Table = ({ label, head, children }) => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table><thead><tr>${head.map((each) => html`<th scope="col" class=${each.kind ?? ''}>${each.text ?? each}</th>`)}</tr></thead>
    <tbody>${children}</tbody></table>
  </div>`;

// ---- what is not known

const NAMES = { away: 'No answer', 'store-away': 'The store is away', overloaded: 'Too much at once', stopping: 'The server stops', forbidden: 'Not allowed', 'not-found': 'Not here', invalid: 'Not valid', 'unknown-outcome': 'Nobody knows whether it was done', unauthenticated: 'Sign in' };

export const ProblemBox = ({ problem }) =>
  problem
    ? html`<div class="notice bad" role="alert"><strong>${NAMES[problem.kind] ?? 'It did not work'}.</strong> <bdi>${problem.message}</bdi>
        ${problem.more?.again ? html`<span> ${AGAIN[problem.more.again]}</span>` : null}</div>`
    : null;

const AGAIN = { SAFE: 'Asking again is safe.', SAFE_WITH_KEY: 'Asking again is safe under the same key.', ADDS: 'Asking again may do it twice: look first.' };

/** Says so where what is shown is not of now: since when, and why. */
export function Stale({ ask }) {
  useTick();
  const age = ask.at ? now() - ask.at : 0;
  const late = ask.at && ask.every && age > ask.every * 2 + 5_000;
  if (ask.problem) {
    return ask.at
      ? html`<div class="notice warn" role="status"><strong>Not of now.</strong> This is as of ${exact(ask.at)}, ${duration(age)} ago. <bdi>${ask.problem.message}</bdi></div>`
      : html`<${ProblemBox} problem=${ask.problem} />`;
  }
  return late ? html`<div class="notice warn" role="status"><strong>Not of now.</strong> This is as of ${exact(ask.at)}, ${duration(age)} ago.</div>` : null;
}

/** Who did not answer, where all nodes were asked. */
export const Silent = ({ ask }) => (ask.data?.silent?.length ? html`<div class="notice warn" role="status"><strong>Not complete.</strong> No answer from <bdi>${ask.data.silent.join(', ')}</bdi>: what is there is not known.</div>` : null);

/** What was asked for: a placeholder before it is there, dimmed when it is not of now. */
export function Shown({ ask, children }) {
  const dimmed = ask.problem && ask.at;
  return html`<${Stale} ask=${ask} />
    ${ask.data !== undefined ? html`<div class=${dimmed ? 'dimmed' : 'fresh'}>${children(ask.data)}</div>` : ask.problem ? null : html`<p class="empty" aria-busy="true">Asking…</p>`}`;
}

// ---- short messages

export const toasts = store([]);
let last = 0;

export function toast(text, tone = 'good') {
  const id = ++last;
  toasts.set([...toasts.get().slice(-3), { id, text, tone }]);
  setTimeout(() => toasts.set(toasts.get().filter((each) => each.id !== id)), tone === 'bad' ? 12_000 : 5_000);
}

export const Toasts = () => html`<div class="toasts" role="status" aria-live="polite">
  ${toasts.use().map((each) => html`<div key=${each.id} class=${'toast ' + each.tone}><bdi>${each.text}</bdi></div>`)}</div>`;

/** The title of the page: it takes the focus when one comes to the page. */
export function Title({ children, sub, actions }) {
  const heading = useRef(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return html`<div class="title"><div><h1 tabindex="-1" ref=${heading}>${children}</h1>${sub ? html`<p>${sub}</p>` : null}</div>${actions ? html`<div class="actions">${actions}</div>` : null}</div>`;
}
