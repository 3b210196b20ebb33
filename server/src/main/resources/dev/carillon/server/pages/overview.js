// Is all well? If not: what, why, and what to do. Then the figures behind it.
import { html, Card, Empty, Figure, link, Shown, Silent, Stale, Table, Text, Title, Elapsed } from './parts.js';
import { access, get, inNamespace, may, useAsk } from './api.js';
import { count, duration, exact, kept, now, plural, rate, useTick } from './format.js';
import { columns, lately, RANGES, readPast, readWaiting } from './figures.js';
import { Chart } from './charts.js';
import { findings } from './verdict.js';
import { useLive } from './live.js';

const perSecond = { words: (n) => rate(n) + '/s', least: 1 };
const amount = { words: count, least: 4 };
const late = { words: (n) => duration(n * 1_000), least: 0.02 };
const range = kept('range', 'PT10M');

/** The probe, and the details where one may see them. */
async function health(signal) {
  try {
    return await get('v1/cluster/health', signal);
  } catch (problem) {
    if (problem.kind !== 'forbidden' && problem.kind !== 'store-away') throw problem;
    try {
      const { ok, detail } = await get('health/ready', signal);
      return { ready: ok, detail };
    } catch (e) {
      if (e.status !== 503 || !e.more?.detail) throw e;
      return { ready: false, detail: e.more.detail };
    }
  }
}

/** Of all namespaces, or of this one for those who see no more. */
export function useFacts(namespace) {
  const mine = access.use();
  const all = may(mine, 'viewer', true);
  const at = (what) => (all ? 'v1/cluster/' + what : inNamespace(namespace, what));
  const waiting = at('waiting');
  const running = at('running') + '?limit=20';
  const asks = {
    health: useAsk('health', health),
    cluster: useAsk('cluster', (signal) => get('v1/cluster', signal)),
    running: useAsk(running, (signal) => get(running, signal)),
    waiting: useAsk(waiting, readWaiting(waiting)),
    past: useAsk('past', readPast('PT10M')),
  };
  const known = (ask) => (ask.problem ? null : ask.data ?? null);
  const facts = Object.fromEntries(Object.entries(asks).map(([name, ask]) => [name, known(ask)]));
  return { asks, facts: { ...facts, lately: lately(facts.past) } };
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
    ${worst === 'good' && !refused.length ? html`<p>Nothing due waits for long, every node answers, no clock is off.</p>` : null}
    ${found.length ? html`<ul>${found.map((each) => html`<li key=${each.name} class=${each.tone} data-finding=${each.name}>
      <strong><bdi>${each.title}</bdi></strong><span>${each.advice}${each.to ? html` <a href=${link(each.to.namespace ?? namespace, each.to.page, each.to.rest ?? [], each.to.query)}>Show</a>` : null}</span></li>`)}</ul>` : null}
  </section>`;
}

export function Overview({ namespace }) {
  const { asks, facts } = useFacts(namespace);
  const shown = range.use();
  const longer = useAsk('past ' + shown, readPast(shown), shown === 'PT10M' ? 5_000 : 30_000);
  const ask = shown === 'PT10M' ? asks.past : longer;
  useLive(() => true, () => asks.running.again(), 2_000);
  const lines = columns(ask.data);
  const recent = facts.lately;
  const waits = (facts.waiting?.items ?? []).filter((each) => ['TURN', 'SLOT', 'LIMIT', 'RATE', 'NODE'].includes(each.reason));
  const oldest = waits.reduce((most, each) => Math.max(most, now() - Date.parse(each.oldestDue)), 0);
  const sum = (rows) => rows.reduce((n, each) => n + each.jobs, 0);
  const blocked = (facts.waiting?.items ?? []).filter((each) => ['NO_HANDLER', 'UNFIT'].includes(each.reason));
  return html`<${Title} sub="What is wrong, why, and what to do about it.">Overview<//>
    <${Verdict} asks=${asks} facts=${facts} namespace=${namespace} />
    <${Stale} ask=${asks.past} />
    <div class=${'figures ' + (asks.past.problem ? 'dimmed' : '')}>
      <${Figure} label="Ended" value=${recent ? rate(recent.ended / recent.seconds) + '/s' : '–'} note=${recent ? `last ${duration(recent.seconds * 1_000)}` : 'not known yet'} />
      <${Figure} label="Late by, p99" value=${recent?.started ? duration(recent.p99 * 1_000) : '–'} note=${recent?.started ? 'half within ' + duration(recent.p50 * 1_000) : 'nothing started'} tone=${recent?.p99 > 10 ? 'bad' : ''} to=${link(namespace, 'lateness')} />
      <${Figure} label="Running" value=${count(facts.running?.nodes.reduce((n, each) => n + each.running, 0))} note=${facts.running ? 'on ' + plural(facts.running.nodes.length, 'node') : 'not known'} to=${link(namespace, 'running')} />
      <${Figure} label="Due, not started" value=${facts.waiting ? count(sum(waits)) : '–'} note=${oldest > 0 ? 'oldest ' + duration(oldest) : 'none is late'} tone=${oldest >= 10_000 ? 'bad' : ''} to=${link(namespace, 'queues')} />
      <${Figure} label="Blocked" value=${facts.waiting ? count(sum(blocked)) : '–'} note="no handler fits" tone=${blocked.length ? 'warn' : ''} to=${link(namespace, 'jobs', [], { state: 'BLOCKED' })} />
      <${Figure} label="Failed attempts" value=${recent ? count(recent.failed) : '–'} note=${recent ? `${count(recent.dead)} became dead letters` : ' '} tone=${recent?.dead > 0 ? 'warn' : ''} to=${link(namespace, 'dead-letters')} />
    </div>
    <${Ranges} of=${range} />
    <div class=${'charts ' + (ask.problem ? 'dimmed' : '')}>
      <${Card}><${Chart} label="Throughput" columns=${lines} unit=${perSecond} lines=${[{ of: 'ended', name: 'ended', colour: 'good', fill: true }, { of: 'started', name: 'started', colour: 'accent' }, { of: 'failed', name: 'failed', colour: 'bad' }]} /><//>
      <${Card}><${Chart} label="Lateness" columns=${lines} unit=${late} lines=${[{ of: 'p99', name: 'p99', colour: 'warn', fill: true }, { of: 'p50', name: 'p50', colour: 'accent' }]} /><//>
      <${Card}><${Chart} label="Backlog" columns=${lines} unit=${amount} lines=${[{ of: 'ready', name: 'due', colour: 'warn', fill: true }, { of: 'running', name: 'running', colour: 'accent' }]} /><//>
    </div>
    <p class="faint small">${ask.data ? html`All nodes, each from its memory: ${ask.data.nodes.length} told${ask.data.silent.length ? html`, <b class="warn"><bdi>${ask.data.silent.join(', ')}</bdi> did not</b>` : ''}. Where nobody was there the lines have a gap.` : ''}</p>
    <${Card} title="Running now" more=${html`<a href=${link(namespace, 'running')}>All</a>`}><${RunningTable} ask=${asks.running} most=${8} /><//>`;
}

/** How far back. */
export function Ranges({ of }) {
  const value = of.use();
  return html`<div class="chips" role="group" aria-label="How far back">${RANGES.map(([each, name]) => html`<button type="button" key=${each} class="chip" aria-pressed=${value === each} onClick=${() => of.set(each)}>${name}</button>`)}</div>`;
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
  const where = (may(access.use(), 'viewer', true) ? 'v1/cluster/running' : inNamespace(namespace, 'running')) + '?limit=500';
  const ask = useAsk(where, (signal) => get(where, signal), 3_000);
  useLive(() => true, () => ask.again(), 1_000);
  return html`<${Title} sub="On every node, longest first. Programs with the library count too.">Running now<//>
    <${Silent} ask=${ask} />
    ${ask.data && ask.data.nodes.some((each) => each.shown < each.running) ? html`<p class="faint">Shown: ${ask.data.items.length} of ${count(ask.data.nodes.reduce((n, each) => n + each.running, 0))}.</p>` : null}
    <${Card}><${RunningTable} ask=${ask} most=${500} /><//>`;
}
