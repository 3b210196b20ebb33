// Is all well? If not: what, why, and what to do. Then the figures behind it.
import { html, Card, Empty, Figure, link, Shown, Stale, Table, Text, Time, Title, Elapsed } from './parts.js';
import { get, useAsk } from './api.js';
import { count, duration, exact, plural, rate, useTick } from './format.js';
import { lately, readFigures, series, since } from './figures.js';
import { Chart } from './charts.js';
import { findings } from './verdict.js';
import { useLive } from './live.js';

const perSecond = { words: (n) => rate(n) + '/s', least: 1 };
const amount = { words: count, least: 4 };
const late = { words: (n) => duration(n * 1_000), least: 0.02 };

async function health(signal) {
  try {
    return await get('health/ready', signal);
  } catch (problem) {
    if (problem.status === 503 && problem.more?.detail) return { ok: false, detail: problem.more.detail };
    throw problem;
  }
}

export function useFacts() {
  const asks = {
    health: useAsk('health', health),
    cluster: useAsk('cluster', (signal) => get('v1/cluster', signal), 10_000),
    running: useAsk('running', (signal) => get('v1/cluster/running?limit=20', signal)),
    figures: useAsk('figures', readFigures),
  };
  const known = (ask) => (ask.problem ? null : ask.data ?? null);
  const facts = { health: known(asks.health), cluster: known(asks.cluster), running: known(asks.running), figures: known(asks.figures), lately: asks.figures.problem ? null : lately() };
  return { asks, facts };
}

function Verdict({ asks, facts, namespace }) {
  useTick(2_000);
  const all = Object.values(asks);
  const open = all.some((ask) => ask.data === undefined && !ask.problem);
  if (open && findings(facts).length === 0) return html`<section class="verdict calm" aria-busy="true"><h2>Asking…</h2></section>`;
  const unknown = all.filter((ask) => ask.problem);
  const found = findings(facts);
  const refused = unknown.filter((ask) => ask.problem.kind === 'forbidden');
  const worst = unknown.length > refused.length ? 'unknown' : found[0]?.tone ?? 'good';
  const oldest = unknown.reduce((at, ask) => Math.min(at, ask.at ?? 0), Infinity);
  const words = {
    unknown: 'It is not known whether all is well',
    bad: found.length > 1 ? `${found.length} things need you` : 'Something needs you',
    warn: found.length > 1 ? `${found.length} things to look at` : 'Something to look at',
    info: 'All is well, with a note',
    good: refused.length ? 'No trouble in the part that you may see' : 'All is well',
  };
  return html`<section class=${'verdict ' + worst} aria-live="polite">
    <h2><i aria-hidden="true"></i>${words[worst]}</h2>
    ${worst === 'unknown' ? html`<p>${unknown.find((ask) => ask.problem.kind !== 'forbidden').problem.message} ${oldest > 0 && oldest < Infinity ? html`The last answer was of ${exact(oldest)}, <${Elapsed} since=${oldest} /> ago.` : 'There was no answer yet.'}</p>` : null}
    ${refused.length ? html`<p>Your token does not reach all figures: this looks at a part only.</p>` : null}
    ${worst === 'good' && !refused.length ? html`<p>Nothing due waits for long, every node answers, no clock is off. Nodes and clocks are judged for all nodes, what waits for the node that answers.</p>` : null}
    ${found.length ? html`<ul>${found.map((each) => html`<li key=${each.name} class=${each.tone} data-finding=${each.name}>
      <strong><bdi>${each.title}</bdi></strong><span>${each.advice}${each.to ? html` <a href=${link(each.to.namespace ?? namespace, each.to.page, each.to.rest ?? [], each.to.query)}>Show</a>` : null}</span></li>`)}</ul>` : null}
  </section>`;
}

export function Overview({ namespace }) {
  const { asks, facts } = useFacts();
  const { figures: ask } = asks;
  useLive(() => true, () => asks.running.again(), 2_000);
  const columns = series();
  const recent = facts.lately;
  const plain = ask.data?.plain;
  const oldest = ask.data ? Math.max(0, ...ask.data.waiting.filter((each) => each.reason === 'slot').map((each) => each.oldest)) : NaN;
  const begun = since();
  return html`<${Title} sub="What is wrong, why, and what to do about it.">Overview<//>
    <${Verdict} asks=${asks} facts=${facts} namespace=${namespace} />
    <${Stale} ask=${ask} />
    <div class=${'figures ' + (ask.problem ? 'dimmed' : '')}>
      <${Figure} label="Ended" value=${recent ? rate(recent.ended / recent.seconds) + '/s' : '–'} note=${recent ? `last ${duration(recent.seconds * 1_000)}` : 'after a second reading'} />
      <${Figure} label="Late by, p99" value=${recent && !Number.isNaN(recent.p99) ? duration(recent.p99 * 1_000) : '–'} note=${recent && !Number.isNaN(recent.p50) ? 'half within ' + duration(recent.p50 * 1_000) : 'nothing started'} tone=${recent?.p99 > 10 ? 'bad' : ''} />
      <${Figure} label="Running" value=${count(facts.running?.nodes.reduce((n, each) => n + each.running, 0))} note=${facts.running ? 'on ' + plural(facts.running.nodes.length, 'node') : 'not known'} to=${link(namespace, 'running')} />
      <${Figure} label="Due, not started" value=${count(plain?.jobs_ready)} note=${oldest > 0 ? 'oldest ' + duration(oldest * 1_000) : 'none is late'} tone=${oldest >= 10 ? 'bad' : ''} to=${link(namespace, 'queues')} />
      <${Figure} label="Blocked" value=${count(plain?.jobs_blocked)} note="no handler fits" tone=${plain?.jobs_blocked > 0 ? 'warn' : ''} to=${link(namespace, 'jobs', [], { state: 'BLOCKED' })} />
      <${Figure} label="Failed attempts" value=${recent ? count(recent.failed) : '–'} note=${recent ? `${count(recent.dead)} became dead letters` : ' '} tone=${recent?.dead > 0 ? 'warn' : ''} to=${link(namespace, 'dead-letters')} />
    </div>
    <div class=${'charts ' + (ask.problem ? 'dimmed' : '')}>
      <${Card}><${Chart} label="Throughput" columns=${columns} unit=${perSecond} lines=${[{ of: 'ended', name: 'ended', colour: 'good', fill: true }, { of: 'started', name: 'started', colour: 'accent' }, { of: 'failed', name: 'failed', colour: 'bad' }]} /><//>
      <${Card}><${Chart} label="Lateness" columns=${columns} unit=${late} lines=${[{ of: 'p99', name: 'p99', colour: 'warn', fill: true }, { of: 'p50', name: 'p50', colour: 'accent' }]} /><//>
      <${Card}><${Chart} label="Backlog" columns=${columns} unit=${amount} lines=${[{ of: 'ready', name: 'due', colour: 'warn', fill: true }, { of: 'running', name: 'running', colour: 'accent' }]} /><//>
    </div>
    <p class="faint small">${begun ? html`Charts show the node that answers, since this page began to ask <${Time} at=${begun} />. Where nobody asked they have a gap.` : ''}</p>
    <${Card} title="Running now" more=${html`<a href=${link(namespace, 'running')}>All</a>`}><${RunningTable} ask=${asks.running} most=${8} /><//>`;
}

export function RunningTable({ ask, most = 200 }) {
  return html`<${Shown} ask=${ask}>${(data) =>
    data.items.length === 0
      ? html`<${Empty}>Nothing runs ${data.silent.length ? 'on the nodes that answered' : 'at the moment'}.<//>`
      : html`<${Table} label="What runs now" head=${['Job', 'Type', 'Queue', 'Node', 'Attempt', 'For']}>
          ${[...data.items].sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt)).slice(0, most).map((job) => html`<tr key=${job.id}>
            <td><a class="id" href=${link(job.namespace, 'jobs', [job.id])} title=${job.id}>${job.id.slice(-12)}</a></td>
            <td><${Text} text=${job.type} /></td><td><${Text} text=${job.queue} /></td><td><${Text} text=${job.node} /></td>
            <td class="n">${job.attempt}</td><td><${Elapsed} since=${job.startedAt} /></td></tr>`)}<//>`}<//>`;
}

export function Running({ namespace }) {
  const ask = useAsk('running-all', (signal) => get('v1/cluster/running?limit=500', signal), 3_000);
  useLive(() => true, () => ask.again(), 1_000);
  const silent = ask.data?.silent ?? [];
  return html`<${Title} sub="On every node, longest first. Programs with the library count too.">Running now<//>
    ${silent.length ? html`<div class="notice warn" role="status"><strong>Not complete.</strong> No answer from <bdi>${silent.join(', ')}</bdi>: what runs there is not known.</div>` : null}
    ${ask.data && ask.data.nodes.some((each) => each.shown < each.running) ? html`<p class="faint">Shown: ${ask.data.items.length} of ${count(ask.data.nodes.reduce((n, each) => n + each.running, 0))}.</p>` : null}
    <${Card}><${RunningTable} ask=${ask} most=${500} /><//>`;
}
