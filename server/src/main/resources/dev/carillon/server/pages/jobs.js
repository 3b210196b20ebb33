// Lists of jobs: a query in the address, pages by cursor, and actions on all that fit.
import { html, address, Card, Empty, go, link, ProblemBox, Shown, State, Table, Text, Time, Title, toast } from './parts.js';
import { access, get, getPage, inNamespace, may, post, useAsk, WITHIN } from './api.js';
import { count, hasEnded, plural, states } from './format.js';
import { show } from './dialogs.js';
import { body, of, QueryBar } from './query.js';
import { useLive } from './live.js';
import { useEffect, useState } from './vendor-preact-htm.js';

const PAGE = 50;

/** What completions know: types and queues that were seen. */
export const seen = { types: new Set(), queues: new Set() };

export function remember(jobs) {
  for (const job of jobs) {
    if (seen.types.size < 500) seen.types.add(job.type);
    if (seen.queues.size < 500) seen.queues.add(job.queue);
  }
}

export function Jobs({ namespace, search }) {
  const parameters = of(search);
  const cursor = search.get('cursor') ?? '';
  const where = inNamespace(namespace, 'jobs') + '?' + new URLSearchParams([...parameters, ['limit', PAGE], ['within', WITHIN], ...(cursor ? [['cursor', cursor]] : [])]);
  const ask = useAsk(where, (signal) => getPage(where, signal), cursor ? 15_000 : 5_000);
  useLive(() => !cursor, () => ask.again(), 2_000);
  useEffect(() => {
    if (ask.data) remember(ask.data.items);
  }, [ask.data]);
  const to = (next, more = []) => go(link(namespace, 'jobs', [], [...next, ...more]));
  const chosen = parameters.filter(([name]) => name === 'state').map(([, value]) => value);
  const toggle = (state) => to(chosen.includes(state) ? parameters.filter(([n, v]) => n !== 'state' || v !== state) : [...parameters, ['state', state]]);
  const newest = parameters.some(([name]) => name === 'newest');
  return html`<${Title} sub=${html`in <${Text} text=${namespace} />. The query stands in the address: send it to whoever should see the same.`} actions=${html`<${Bulk} namespace=${namespace} parameters=${parameters} onDone=${() => ask.again()} />`}>Jobs<//>
    <${QueryBar} parameters=${parameters} seen=${seen} onQuery=${(next) => to(next)} />
    <div class="chips" role="group" aria-label="States">
      ${states.map((state) => html`<button type="button" key=${state} class="chip" aria-pressed=${chosen.includes(state)} onClick=${() => toggle(state)}><${State} state=${state} /></button>`)}
      <button type="button" class="chip" aria-pressed=${newest} onClick=${() => to(newest ? parameters.filter(([n]) => n !== 'newest') : [...parameters, ['newest', 'true']])}>ended last first</button>
      ${parameters.length ? html`<button type="button" class="chip plain" onClick=${() => to([])}>all jobs</button>` : null}
    </div>
    <${Card}><${Shown} ask=${ask}>${(page) => html`
      ${page.unreadable?.length ? html`<div class="notice warn" role="status"><strong>Not complete.</strong> ${plural(page.unreadable.length, 'part')} of the store cannot be read.</div>` : null}
      ${page.items.length ? html`<${JobTable} jobs=${page.items} namespace=${namespace} />` : html`<${Empty}>${page.next ? 'None in what was looked through so far; there is more.' : parameters.length ? 'No job fits.' : 'There is no job yet. Schedule one by the library, or by POST /v1/namespaces/' + namespace + '/jobs.'}<//>`}
      <footer class="pages"><span class="faint">${page.next ? `At least ${count(page.items.length)} fit.` : cursor ? 'The last page.' : plural(page.items.length, 'job') + '.'}</span>
        ${cursor ? html`<a class="button" href=${link(namespace, 'jobs', [], parameters)}>First page</a>` : null}
        ${page.next ? html`<a class="button" href=${link(namespace, 'jobs', [], [...parameters, ['cursor', page.next]])}>Next page</a>` : null}</footer>`}<//><//>`;
}

export const JobTable = ({ jobs, namespace, label = 'Jobs' }) => html`
  <${Table} label=${label} head=${['State', 'Type', 'Name or id', 'Queue', 'Due', 'Attempt', 'Last error']}>
    ${jobs.map((job) => html`<tr key=${job.id}>
      <td><${State} state=${job.state} note=${job.blockReason} /></td>
      <td><${Text} text=${job.type} /></td>
      <td><a class=${job.name ? '' : 'id'} href=${link(namespace, 'jobs', [job.id])} title=${job.id}>${job.name ? html`<${Text} text=${job.name} />` : job.id.slice(-12)}</a></td>
      <td><${Text} text=${job.queue} /></td>
      <td><${Time} at=${job.recurring && !hasEnded(job.state) ? job.recurring.nextTime : job.dueAt} /></td>
      <td class="n">${job.attempt || html`<span class="faint">–</span>`}</td>
      <td>${job.lastError ? html`<${Text} kind="error" text=${shortType(job.lastError.type) + ': ' + job.lastError.message} />` : null}</td>
    </tr>`)}<//>`;

export const shortType = (type) => type.slice(type.lastIndexOf('.') + 1);

// ---- actions on all that fit

const ACTIONS = [
  { name: 'CANCEL', verb: 'Cancel', done: 'cancelled', reason: true, tone: 'danger' },
  { name: 'PAUSE', verb: 'Pause', done: 'paused', reason: true },
  { name: 'RESUME', verb: 'Resume', done: 'resumed' },
  { name: 'TERMINATE', verb: 'Terminate', done: 'terminated without compensations', reason: true, tone: 'danger' },
  { name: 'REPLAY', verb: 'Replay', done: 'tried again', dead: true },
  { name: 'DISCARD', verb: 'Discard', done: 'discarded for good', dead: true, tone: 'danger' },
];

function Bulk({ namespace, parameters, onDone }) {
  const mayChange = may(access.use(), 'operator');
  if (!mayChange) return null;
  return html`<button type="button" onClick=${() => show('All jobs that fit', BulkDialog, { namespace, parameters, onDone })}>Act on all that fit…</button>`;
}

/** Counts first, asks once, then says how far it is. */
export function BulkDialog({ namespace, parameters, onDone, close }) {
  const dead = parameters.some(([n, v]) => n === 'state' && v === 'DEAD');
  const choices = ACTIONS.filter((each) => Boolean(each.dead) === dead);
  const [name, setName] = useState(choices[0].name);
  const [reason, setReason] = useState('');
  const [counted, setCounted] = useState(null);
  const [problem, setProblem] = useState(null);
  const [started, setStarted] = useState(null);
  const action = ACTIONS.find((each) => each.name === name);
  // What is shown as counted is what is asked for: the query of this moment, without ended states.
  const [asked] = useState(() => body(parameters));
  useEffect(() => {
    let over = false;
    setCounted(null);
    setProblem(null);
    post(inNamespace(namespace, 'bulk'), { action: name, query: asked, dryRun: true }).then((answer) => over || setCounted(answer), (e) => over || setProblem(e));
    return () => (over = true);
  }, [name]);
  const key = useState(() => crypto.getRandomValues(new Uint32Array(4)).join('-'))[0];
  const submit = async (event) => {
    event.preventDefault();
    setProblem(null);
    try {
      const answer = await post(inNamespace(namespace, 'bulk'), { action: name, query: asked, ...(reason && action.reason ? { reason } : {}) }, { 'Idempotency-Key': key });
      setStarted(answer.id);
      onDone?.();
    } catch (e) {
      setProblem(e);
    }
  };
  if (started) return html`<${BulkProgress} namespace=${namespace} id=${started} action=${action} close=${close} onDone=${onDone} />`;
  const many = counted ? (counted.complete ? '' : 'at least ') + count(counted.count) : '…';
  return html`<form onSubmit=${submit}>
    <fieldset><legend>What</legend><div class="choices">${choices.map((each) => html`<label key=${each.name}><input type="radio" name="action" checked=${name === each.name} onChange=${() => setName(each.name)} />${each.verb}</label>`)}</div></fieldset>
    <p>Query: <code><bdi>${JSON.stringify(asked)}</bdi></code></p>
    ${counted ? html`<p data-count=${counted.count}><strong>${many} ${counted.count === 1 ? 'job fits' : 'jobs fit'}</strong>${counted.count > counted.first.length ? `; the first ${counted.first.length}:` : ':'}</p>
      <ul class="sample">${counted.first.map((job) => html`<li key=${job.id}><${State} state=${job.state} /> <${Text} text=${job.name ?? job.type} /> <span class="faint">${job.id.slice(-12)}</span></li>`)}</ul>` : problem ? null : html`<p aria-busy="true">Counting…</p>`}
    ${action.reason ? html`<label>Reason, for the history<input value=${reason} maxlength="1024" onInput=${(e) => setReason(e.currentTarget.value)} placeholder="optional" /></label>` : null}
    <p class="faint small">Jobs that are scheduled from now on are left alone. What does not fit any more when its turn comes is left as it is.</p>
    <${ProblemBox} problem=${problem} />
    <footer><button type="button" onClick=${close}>Leave it</button><button type="submit" class=${action.tone ?? 'primary'} disabled=${!counted || counted.count === 0}>${action.verb} ${many} ${counted?.count === 1 ? 'job' : 'jobs'}</button></footer>
  </form>`;
}

function BulkProgress({ namespace, id, action, close, onDone }) {
  const ask = useAsk('bulk-' + id, (signal) => get(inNamespace(namespace, 'bulk', id), signal), 1_000);
  const state = ask.data?.state;
  const over = state && hasEnded(state);
  useEffect(() => {
    if (over) onDone?.();
  }, [over]);
  const stop = () => post(inNamespace(namespace, 'bulk', id, 'cancel'), {}).then(() => ask.again(), (e) => toast(e.message, 'bad'));
  return html`<${Shown} ask=${ask}>${(bulk) => html`<p role="status" data-bulk=${bulk.state}><${State} state=${bulk.state} /> <strong>${count(bulk.done ?? 0)} ${action.done}</strong>${bulk.unchanged ? `, ${count(bulk.unchanged)} did not take it as they stood` : ''}.</p>
    ${bulk.lastError ? html`<p class="bad"><bdi>${bulk.lastError.message}</bdi></p>` : null}`}<//>
    <p class="faint small">It goes on when you close this, also when a server stops.</p>
    <footer>${over ? null : html`<button type="button" class="danger" onClick=${stop}>Stop it</button>`}<button type="button" class="primary" onClick=${close}>Close</button></footer>`;
}
