// What happens, as it happens: one stream for all tabs of a browser. The tab that holds the lock reads
// it and tells the others. A stream is a hint to ask again, never the data itself.
import { base, send, session } from './api.js';
import { store } from './format.js';
import { useEffect, useRef } from './vendor-preact-htm.js';

/** live, or asking every few seconds, and why. */
export const liveness = store({ live: false, why: 'not connected' });

const BACK_MILLIS = 5_000;
const SILENT_MILLIS = 10_000; // the server says something every two seconds
const BUSY_EVENTS = 200; // a second: then asking is cheaper, for both
const BUSY_REST_MILLIS = 60_000;
const listeners = new Set();
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('carillon.live.' + base.pathname) : null;

function tell(event) {
  listeners.forEach((listener) => listener(event));
}

function tellAll(message) {
  channel?.postMessage(message);
}

if (channel) {
  channel.onmessage = ({ data }) => {
    if (data.namespace !== running?.namespace) return;
    if (data.liveness) liveness.set(data.liveness);
    else tell(data.event);
  };
}

function say(namespace, state) {
  liveness.set(state);
  tellAll({ namespace, liveness: state });
}

/** Events of a stream of lines. */
function parser(found) {
  let rest = '';
  let name = '';
  let data = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('event: ')) name = line.slice(7);
      else if (line.startsWith('data: ')) data = line.slice(6);
      else if (line === '' && name) {
        found(name, data);
        name = data = '';
      }
    }
  };
}

const pause = (millis, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, millis);
    signal.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true });
  });

async function read(namespace, signal) {
  const inner = new AbortController();
  const stop = () => inner.abort();
  signal.addEventListener('abort', stop, { once: true });
  let silent = setTimeout(stop, SILENT_MILLIS);
  let second = 0;
  let busy = 0;
  let ended = '';
  try {
    const where = `v1/namespaces/${encodeURIComponent(namespace)}/events`;
    const response = await send('GET', where, { signal: inner.signal, patience: 0 });
    say(namespace, { live: true, why: 'changes are shown as they happen' });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser((name, data) => {
      if (name === 'begun') return;
      if (name === 'cut' || name === 'stopping') {
        ended = name;
        return;
      }
      const at = Math.floor(Date.now() / 1_000);
      busy = at === second ? busy + 1 : 0;
      second = at;
      if (busy > BUSY_EVENTS) ended = 'busy';
      const { job } = JSON.parse(data);
      // Without a job some news are missing: whoever listens asks.
      const event = job ? { kind: name, id: job.id, type: job.type, queue: job.queue, state: job.state } : { kind: name, any: true };
      tell(event);
      tellAll({ namespace, event });
    });
    while (!ended) {
      const { value, done } = await reader.read();
      if (done) break;
      clearTimeout(silent);
      silent = setTimeout(stop, SILENT_MILLIS);
      parse(value);
    }
    return ended;
  } finally {
    clearTimeout(silent);
    stop();
  }
}

async function lead(namespace, signal) {
  while (!signal.aborted) {
    let ended = '';
    try {
      ended = await read(namespace, signal);
    } catch { /* told by the next question */ }
    if (signal.aborted) return;
    const rest = ended === 'busy' || ended === 'cut';
    say(namespace, { live: false, why: rest ? 'too much happens for a stream: asking every 5 s' : 'no stream: asking every 5 s' });
    await pause(rest ? BUSY_REST_MILLIS : BACK_MILLIS, signal);
  }
}

let running = null;

/** Follows a namespace while the page is seen. */
export function follow(namespace) {
  stopFollowing();
  const controller = new AbortController();
  running = { namespace, controller };
  if (document.hidden || session.get().needed) return;
  const { signal } = controller;
  if (navigator.locks && channel) {
    liveness.set({ live: true, why: 'another tab reads the stream' });
    navigator.locks
      .request('carillon.live.' + base.pathname + namespace, { signal }, () => lead(namespace, signal))
      .catch(() => {});
  } else {
    lead(namespace, signal);
  }
}

export function stopFollowing() {
  running?.controller.abort();
}

document.addEventListener('visibilitychange', () => {
  if (!running) return;
  if (document.hidden) stopFollowing();
  else follow(running.namespace);
});

/** Calls back when something fitting happened, at most once per so many milliseconds. */
export function useLive(fits, then, every = 1_000) {
  const current = useRef({});
  current.current = { fits, then };
  useEffect(() => {
    let timer = 0;
    let last = 0;
    const listener = (event) => {
      if (timer || !(event.any || current.current.fits(event))) return;
      timer = setTimeout(() => {
        timer = 0;
        last = Date.now();
        current.current.then();
      }, Math.max(100, last + every - Date.now()));
    };
    listeners.add(listener);
    return () => {
      clearTimeout(timer);
      listeners.delete(listener);
    };
  }, []);
}
