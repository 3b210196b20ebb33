// Queues: what waits and why, how fast it goes, pause and limits.
import { html, Card, Empty, Figure, go, link, Shown, Stale, State, Table, Text, Title } from './parts.js';
import { access, get, may, path, post, put, del, useAsk } from './api.js';
import { count, duration, isoDuration } from './format.js';
import { quantile, readFigures } from './figures.js';
import { RunningTable } from './overview.js';
import { Act } from './dialogs.js';
import { useState } from './vendor-preact-htm.js';

const SHOWN = 50;
const WORDS = { slot: 'a free slot, a limit or a rate', paused: 'a pause to end', limit: 'a concurrency key or a limit', no_handler: 'a handler', undecodable: 'a handler that can read them', dependency: 'other jobs' };

const waitingOf = (figures, queue) => figures.waiting.filter((each) => each.queue === queue);
const sum = (waits) => waits.reduce((n, each) => n + each.jobs, 0);
const oldest = (waits) => waits.reduce((n, each) => Math.max(n, each.oldest), 0);

export function Queues({ namespace }) {
  const ask = useAsk('figures', readFigures);
  const [text, setText] = useState('');
  const names = ask.data ? [...new Set(['default', ...Object.keys(ask.data.queues), ...ask.data.waiting.map((each) => each.queue)])].filter((each) => each !== 'carillon') : [];
  names.sort((a, b) => oldest(waitingOf(ask.data, b)) - oldest(waitingOf(ask.data, a)) || a.localeCompare(b));
  const open = (event) => {
    event.preventDefault();
    if (text) go(link(namespace, 'queues', [text]));
  };
  return html`<${Title} sub="As the node that answers has seen them since its start. A queue is one over all namespaces.">Queues<//>
    <form class="query" role="search" onSubmit=${open}><input aria-label="A queue by name" placeholder="a queue by name" value=${text} onInput=${(e) => setText(e.currentTarget.value)} /><button type="submit">Open</button></form>
    <${Card}><${Shown} ask=${ask}>${(figures) => html`<${Table} label="Queues" head=${['Queue', 'Waiting', 'Oldest', 'Late by, p99', 'Took, p99', 'Started', 'Failed', 'State']}>
      ${names.slice(0, SHOWN).map((name) => {
        const waits = waitingOf(figures, name);
        const queue = figures.queues[name];
        return html`<tr key=${name}><td><a href=${link(namespace, 'queues', [name])}><${Text} text=${name} /></a></td>
          <td class="n">${count(sum(waits))}</td><td>${waits.length ? duration(oldest(waits) * 1_000) : html`<span class="faint">–</span>`}</td>
          <td>${seconds(quantile(0.99, queue?.within ?? {}))}</td><td>${seconds(quantile(0.99, queue?.took ?? {}))}</td>
          <td class="n">${count(queue?.started ?? 0)}</td><td class="n">${count(queue?.failed ?? 0)}</td><td><${FlowState} queue=${name} /></td></tr>`;
      })}<//>
      ${names.length > SHOWN ? html`<p class="faint">The ${SHOWN} that wait longest, of ${count(names.length)}.</p>` : null}`}<//><//>
    <p class="faint small">Percentiles are over all attempts since the node's start.</p>`;
}

const seconds = (n) => (Number.isNaN(n) ? html`<span class="faint">–</span>` : duration(n * 1_000));

function FlowState({ queue }) {
  const ask = useAsk('flow ' + queue, (signal) => get(path('v1', 'queues', queue), signal), 20_000);
  if (!ask.data) return html`<span class="faint">${ask.problem ? 'not known' : '…'}</span>`;
  return html`${ask.data.paused ? html`<${State} state="PAUSED" />` : html`<span class="faint">open</span>`}${ask.data.limit ? html` <span class="faint">limit ${ask.data.limit}</span>` : null}`;
}

export function QueuePage({ namespace, name }) {
  const flow = useAsk('flow ' + name, (signal) => get(path('v1', 'queues', name), signal));
  const figures = useAsk('figures', readFigures);
  const running = useAsk('running 500', (signal) => get('v1/cluster/running?limit=500', signal));
  const mine = access.use();
  const at = (verb, body) => post(path('v1', 'queues', name, verb), body);
  const paused = flow.data?.paused;
  const mineHere = { ...running, data: running.data && { ...running.data, items: running.data.items.filter((job) => job.queue === name) } };
  const actions = flow.data ? html`
    ${may(mine, 'operator', true) ? (paused
      ? html`<${Act} label="Resume" ask=${false} act=${() => at('resume', {})} done="Resumed." then=${flow.again} />`
      : html`<${Act} label="Pause" words=${`No attempt of the queue ${name} starts, in any namespace, until somebody resumes it. Those that run go on.`} reason act=${({ reason }) => at('pause', { reason })} done="Paused." then=${flow.again} />`) : null}
    ${may(mine, 'admin', true) ? html`<${Act} label="Limit…" title="Limit the queue" verb="Set" words="So many attempts of the queue run at once, on all nodes together. Nothing takes the limit back." input=${{ label: 'Attempts at once', value: String(flow.data.limit ?? '') }} act=${({ text }) => (text.trim() ? put(path('v1', 'queues', name, 'limit'), { limit: Number(text) }) : del(path('v1', 'queues', name, 'limit')))} done="The limit is set." then=${flow.again} />` : null}` : null;
  const waits = figures.data ? waitingOf(figures.data, name) : [];
  const queue = figures.data?.queues[name];
  return html`<${Title} sub="over all namespaces" actions=${actions}><${Text} text=${name} /> ${paused ? html`<${State} state="PAUSED" />` : null}<//>
    <${Stale} ask=${flow} />
    ${paused ? html`<div class="notice warn" role="status"><strong>Paused.</strong> Nothing of this queue starts. ${flow.data.reason ? html`Reason: <bdi>${flow.data.reason}</bdi>` : 'No reason was given.'}</div>` : null}
    <div class=${'figures ' + (figures.problem ? 'dimmed' : '')}>
      <${Figure} label="Waiting" value=${figures.data ? count(sum(waits)) : '–'} note=${waits.length ? 'oldest ' + duration(oldest(waits) * 1_000) : ' '} tone=${oldest(waits) > 10 ? 'bad' : ''} />
      <${Figure} label="Running" value=${mineHere.data ? count(mineHere.data.items.length) : '–'} note=${flow.data?.limit ? 'of ' + flow.data.limit : 'no limit'} />
      <${Figure} label="Rate" value=${flow.data?.rate ? count(flow.data.rate.permits) : '–'} note=${flow.data?.rate ? 'each ' + isoDuration(flow.data.rate.period ?? 'PT1S') : 'no rate'} />
      <${Figure} label="Late by, p99" value=${queue ? secondsText(quantile(0.99, queue.within)) : '–'} note="since the node's start" />
      <${Figure} label="Took, p99" value=${queue ? secondsText(quantile(0.99, queue.took)) : '–'} note="since the node's start" />
    </div>
    <${Card} title="Due, and does not run" more=${html`<a href=${link(namespace, 'jobs', [], { queue: name })}>Jobs of the queue in <bdi>${namespace}</bdi></a>`}><${Shown} ask=${figures}>${() => waits.length === 0 ? html`<${Empty}>Nothing due waits on the node that answers.<//>` : html`
      <${Table} label="What waits" head=${['Waits for', 'Jobs', 'Oldest', 'Type', 'Namespace']}>${waits.map((each, i) => html`<tr key=${i}><td>${WORDS[each.reason] ?? each.reason}</td><td class="n">${count(each.jobs)}</td><td>${duration(each.oldest * 1_000)}</td>
        <td><a href=${link(each.namespace ?? namespace, 'jobs', [], { queue: name, ...(each.type ? { type: each.type } : {}) })}><${Text} text=${each.type ?? '–'} /></a></td><td><${Text} text=${each.namespace ?? '–'} /></td></tr>`)}<//>`}<//><//>
    <${Card} title="Running"><${RunningTable} ask=${mineHere} most=${100} /><//>`;
}

const secondsText = (n) => (Number.isNaN(n) ? '–' : duration(n * 1_000));
