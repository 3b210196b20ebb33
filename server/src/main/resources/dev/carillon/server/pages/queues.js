// Queues: what waits and why, how fast it goes, pause and limits.
import { html, Card, Elapsed, Empty, Figure, go, link, Shown, Silent, Stale, State, Table, Text, Time, Title } from './parts.js';
import { access, get, inNamespace, may, path, post, put, del, useAsk } from './api.js';
import { count, duration, isoDuration, now } from './format.js';
import { seen } from './jobs.js';
import { byQueue, readLateness } from './figures.js';
import { RunningTable } from './overview.js';
import { Act } from './dialogs.js';
import { useState } from './vendor-preact-htm.js';

const SHOWN = 50;
const WORDS = { PAUSED: 'a pause to end', DEPENDENCY: 'other jobs', OVERLAP: 'the occurrence before it', NO_HANDLER: 'a handler', UNFIT: 'a handler that reads it', KEY: 'a concurrency key', LIMIT: 'a limit', RATE: 'its rate', TURN: 'its turn', SLOT: 'a free slot', ALONE: 'to run alone', TRANSACTION: 'an open transaction', STORE: 'the store', NODE: 'its node', SHARD: 'its shard' };

const waitingOf = (waiting, queue) => (waiting?.items ?? []).filter((each) => each.queue === queue);
const sum = (waits) => waits.reduce((n, each) => n + each.jobs, 0);
const oldest = (waits) => waits.reduce((most, each) => Math.max(most, now() - Date.parse(each.oldestDue)), 0);

/** What waits and how late starts were, of all nodes where the caller may see them. */
function useQueues(namespace) {
  const where = may(access.use(), 'viewer', true) ? 'v1/cluster/waiting' : inNamespace(namespace, 'waiting');
  return { waiting: useAsk(where, (signal) => get(where, signal)), lateness: useAsk('lateness', readLateness('PT10M')) };
}

export function Queues({ namespace }) {
  const ask = useAsk('queues', (signal) => get('v1/queues', signal));
  const lateness = useAsk('lateness', readLateness('PT10M'));
  const [text, setText] = useState('');
  const started = byQueue(lateness.data);
  const known = new Map((ask.data?.items ?? []).map((each) => [each.queue, each]));
  for (const queue of ['default', ...Object.keys(started)]) if (!known.has(queue)) known.set(queue, { queue, waiting: 0, running: 0 });
  const rows = [...known.values()].filter((each) => !each.queue.startsWith('carillon'));
  rows.sort((x, y) => (x.oldestDue ?? '9').localeCompare(y.oldestDue ?? '9') || x.queue.localeCompare(y.queue));
  rows.forEach((each) => seen.queues.size < 500 && seen.queues.add(each.queue));
  const open = (event) => {
    event.preventDefault();
    if (text) go(link(namespace, 'queues', [text]));
  };
  return html`<${Title} sub="Those with work now or of late on any node, or with anything set. A queue is one over all namespaces.">Queues<//>
    <form class="query" role="search" onSubmit=${open}><input aria-label="A queue by name" placeholder="a queue by name" value=${text} onInput=${(e) => setText(e.currentTarget.value)} /><button type="submit">Open</button></form>
    <${Silent} ask=${ask} />
    <${Card}><${Shown} ask=${ask}>${() => html`<${Table} label="Queues" head=${['Queue', 'Waiting', 'Oldest', 'Running', 'Started', 'Late by, p99', 'State']}>
      ${rows.slice(0, SHOWN).map((each) => html`<tr key=${each.queue}><td><a href=${link(namespace, 'queues', [each.queue])}><${Text} text=${each.queue} /></a></td>
          <td class="n">${count(each.waiting)}</td><td>${each.oldestDue ? html`<${Elapsed} since=${each.oldestDue} />` : html`<span class="faint">–</span>`}</td><td class="n">${count(each.running)}${each.limit ? html` <span class="faint">of ${each.limit}</span>` : null}</td>
          <td class="n">${count(started[each.queue]?.started ?? 0)}</td><td>${seconds(started[each.queue]?.p99)}</td><td>${each.paused ? html`<${State} state="PAUSED" />${each.pausedBy ? html` <span class="faint">by <${Text} text=${each.pausedBy} /></span>` : null}` : html`<span class="faint">open</span>`}</td></tr>`)}<//>
      ${rows.length > SHOWN ? html`<p class="faint">The ${SHOWN} that wait longest, of ${count(rows.length)}.</p>` : null}`}<//><//>
    <p class="faint small">Started and late: in the last ten minutes.</p>`;
}

const seconds = (n) => (n >= 0 ? duration(n * 1_000) : '–');

export function QueuePage({ namespace, name }) {
  const flow = useAsk('flow ' + name, (signal) => get(path('v1', 'queues', name), signal));
  const { waiting, lateness } = useQueues(namespace);
  const mine = access.use();
  const where = (may(mine, 'viewer', true) ? 'v1/cluster/running' : inNamespace(namespace, 'running')) + '?limit=500';
  const running = useAsk(where, (signal) => get(where, signal));
  const at = (verb, body) => post(path('v1', 'queues', name, verb), body);
  const paused = flow.data?.paused;
  const mineHere = { ...running, data: running.data && { ...running.data, items: running.data.items.filter((job) => job.queue === name) } };
  const actions = flow.data ? html`
    ${may(mine, 'operator', true) ? (paused
      ? html`<${Act} label="Resume" ask=${false} act=${() => at('resume', {})} done="Resumed." then=${flow.again} />`
      : html`<${Act} label="Pause" words=${`No attempt of the queue ${name} starts, in any namespace, until somebody resumes it. Those that run go on.`} reason act=${({ reason }) => at('pause', { reason })} done="Paused." then=${flow.again} />`) : null}
    ${may(mine, 'admin', true) ? html`<${Act} label="Limit…" title="Limit the queue" verb="Set" words="So many attempts of the queue run at once, on all nodes together. Nothing takes the limit back." input=${{ label: 'Attempts at once', value: String(flow.data.limit ?? '') }} act=${({ text }) => (text.trim() ? put(path('v1', 'queues', name, 'limit'), { limit: Number(text) }) : del(path('v1', 'queues', name, 'limit')))} done="The limit is set." then=${flow.again} />` : null}` : null;
  const waits = waitingOf(waiting.data, name);
  const queue = byQueue(lateness.data)[name];
  return html`<${Title} sub="over all namespaces" actions=${actions}><${Text} text=${name} /> ${paused ? html`<${State} state="PAUSED" />` : null}<//>
    <${Stale} ask=${flow} />
    ${paused ? html`<div class="notice warn" role="status"><strong>Paused.</strong> Nothing of this queue starts. ${flow.data.reason ? html`Reason: <bdi>${flow.data.reason}</bdi>` : 'No reason was given.'}${flow.data.pausedBy ? html` By <bdi>${flow.data.pausedBy}</bdi>, <${Time} at=${flow.data.pausedAt} />.` : ''}</div>` : null}
    <${Silent} ask=${waiting} />
    <div class=${'figures ' + (waiting.problem ? 'dimmed' : '')}>
      <${Figure} label="Waiting" value=${waiting.data ? count(sum(waits)) : '–'} note=${waits.length ? 'oldest ' + duration(oldest(waits)) : ' '} tone=${oldest(waits) > 10_000 ? 'bad' : ''} />
      <${Figure} label="Running" value=${mineHere.data ? count(mineHere.data.items.length) : '–'} note=${flow.data?.limit ? 'of ' + flow.data.limit : 'no limit'} />
      <${Figure} label="Rate" value=${flow.data?.rate ? count(flow.data.rate.permits) : '–'} note=${flow.data?.rate ? 'each ' + isoDuration(flow.data.rate.period ?? 'PT1S') : 'no rate'} />
      <${Figure} label="Started" value=${lateness.data ? count(queue?.started ?? 0) : '–'} note="in ten minutes" />
      <${Figure} label="Late by, p99" value=${seconds(queue?.p99)} note="in ten minutes" to=${link(namespace, 'lateness', [], { queue: name })} />
    </div>
    <${Card} title="Due, and does not run" more=${html`<a href=${link(namespace, 'jobs', [], { queue: name })}>Jobs of the queue in <bdi>${namespace}</bdi></a>`}><${Shown} ask=${waiting}>${() => waits.length === 0 ? html`<${Empty}>Nothing due waits.<//>` : html`
      <${Table} label="What waits" head=${['Waits for', 'Jobs', 'Oldest', 'That one', 'Namespace']}>${waits.map((each, i) => html`<tr key=${i}><td>${WORDS[each.reason] ?? each.reason}</td><td class="n">${count(each.jobs)}</td><td>${duration(now() - Date.parse(each.oldestDue))}</td>
        <td><a class="id" href=${link(each.namespace, 'jobs', [each.example])}>${each.example.slice(-12)}</a></td><td><${Text} text=${each.namespace} /></td></tr>`)}<//>`}<//><//>
    <${Card} title="Running"><${RunningTable} ask=${mineHere} most=${100} /><//>`;
}
