// One job: how it stands and why, its attempts on a time line, what happened, what is in it, what to do.
import { html, Card, Copy, Empty, Facts, link, ProblemBox, Shown, State, Table, Text, Time, Title } from './parts.js';
import { access, get, inNamespace, may, Problem, post, send, useAsk, WITHIN } from './api.js';
import { count, duration, exact, hasEnded, isoDuration, now, plural, rate, relative } from './format.js';
import { Act } from './dialogs.js';
import { useLive } from './live.js';
import { shortType, JobTable } from './jobs.js';
import { useEffect, useState } from './vendor-preact-htm.js';

export function JobPage({ namespace, id }) {
  const ask = useAsk(namespace + '/' + id, (signal) => get(inNamespace(namespace, 'jobs', id, 'history'), signal));
  useLive((event) => event.id === id, () => ask.again(), 500);
  const job = ask.data?.job;
  const gone = ask.problem?.kind === 'not-found';
  return html`<${Title} sub=${html`<span class="id">${id}</span> <${Copy} text=${id} what="the id" />`} actions=${job ? html`<${Actions} job=${job} namespace=${namespace} again=${ask.again} />` : null}>
      ${job ? html`<${Text} text=${job.name ?? job.type} /> <${State} state=${job.state} note=${job.blockReason} />` : 'Job'}<//>
    ${gone && !job ? html`<${Empty}>There is no such job in <bdi>${namespace}</bdi>: it was never there, its history is over, or it is not yours to see.<//>` : html`<${Shown} ask=${ask}>${(data) => html`<${Job} data=${data} namespace=${namespace} />`}<//>`}`;
}

function Job({ data, namespace }) {
  const { job, events } = data;
  return html`
    ${hasEnded(job.state) ? null : html`<${Why} job=${job} namespace=${namespace} />`}
    ${job.lastError ? html`<${Card} kind="failed" title="Last error"><${ErrorText} error=${lastWithStack(events) ?? job.lastError} /><//>` : null}
    <div class="columns">
      <${Card} title="The job"><${Facts} facts=${[
        ['Type', html`<${Text} text=${job.type} />${job.typeVersion > 1 ? ' version ' + job.typeVersion : ''}`],
        job.name && ['Name', html`<${Text} text=${job.name} />`],
        ['Queue', html`<a href=${link(namespace, 'queues', [job.queue])}><${Text} text=${job.queue} /></a>`],
        job.priority !== 0 && ['Priority', job.priority],
        ['Scheduled', html`<${Time} at=${job.scheduledAt} />`],
        [hasEnded(job.state) ? 'Was due' : 'Due', html`<${Time} at=${job.dueAt} />`],
        job.startedAt && ['Started', html`<${Time} at=${job.startedAt} />`],
        job.endedAt && ['Ended', html`<${Time} at=${job.endedAt} />`],
        ['Attempt', job.attempt || 'none yet'],
        job.node && ['Node', html`<${Text} text=${job.node} />`],
        job.progress && ['Progress', html`<${Progress} progress=${job.progress} />`],
        job.timeout && ['Timeout', isoDuration(job.timeout)],
        job.deadline && ['Deadline', html`<${Time} at=${job.deadline} />`],
        job.reason && ['Reason', html`<${Text} text=${job.reason} />`],
        job.key && ['Idempotency key', html`<${Text} text=${job.key} />`],
        job.cancelRequested && ['Cancel', 'asked for; the attempt is being stopped'],
        job.occurrence && ['Occurrence', html`number ${job.occurrence.number} of <a href=${link(namespace, 'jobs', [job.occurrence.schedule])}>its schedule</a>`],
        job.recurring && ['Schedule', html`<${Text} text=${job.recurring.schedule.words} />`],
        job.recurring && ['Occurrences', count(job.recurring.count)],
        job.recurring && !hasEnded(job.state) && ['Next', html`<${Time} at=${job.recurring.nextTime} />`],
      ]} /><//>
      <${Card} title="Metadata">${Object.keys(job.metadata ?? {}).length ? html`<${Facts} facts=${Object.entries(job.metadata).map(([name, value]) => [html`<${Text} text=${name} />`, html`<${Text} text=${value} />`])} />` : html`<${Empty}>None.<//>`}<//>
    </div>
    <${Timeline} job=${job} events=${events} />
    ${job.dependencies?.length ? html`<${Card} title="Waits for"><ul class="plain">${job.dependencies.map((each) => html`<li key=${each.job}><a class="id" href=${link(namespace, 'jobs', [each.job])}>${each.job.slice(-12)}</a> to be ${each.condition.toLowerCase()} <${State} state=${each.state} /> ${each.met ? 'met' : 'not met yet'}</li>`)}</ul><//>` : null}
    <${WorkflowSteps} job=${job} events=${events} namespace=${namespace} />
    <${Payload} namespace=${namespace} id=${job.id} part="input" title="Input" />
    ${job.state === 'SUCCEEDED' ? html`<${Payload} namespace=${namespace} id=${job.id} part="result" title="Result" />` : null}
    ${job.recurring ? html`<${Occurrences} job=${job} namespace=${namespace} />` : null}
    <${History} data=${data} namespace=${namespace} />`;
}

const lastWithStack = (events) => events.findLast((event) => event.error)?.error;

export const ErrorText = ({ error }) => html`
  <p class="errorline"><code><bdi>${error.type}</bdi></code>${error.node ? html` <span class="faint">on <${Text} text=${error.node} /></span>` : null}</p>
  <pre class="message"><bdi>${error.message}</bdi></pre>
  ${error.stack ? html`<details><summary>Stack</summary><pre>${error.stack}</pre></details>` : null}`;

// ---- why

let withoutWhy = false;

function Why({ job, namespace }) {
  const ask = useAsk('why-' + job.id + job.state + job.attempt, async (signal) => {
    if (withoutWhy) return null;
    try {
      return await get(inNamespace(namespace, 'jobs', job.id, 'why'), signal);
    } catch (problem) {
      if (/^path: no such/.test(problem.message)) return (withoutWhy = true), null; // an older server
      throw problem;
    }
  });
  if (ask.data === null) return null;
  return html`<${Card} kind="why" title=${job.state === 'RUNNING' ? 'Where it runs' : 'Why it does not run'}><${Shown} ask=${ask}>${(why) => html`
    ${why.run ? html`<p>Attempt ${why.run.attempt} runs on <${Text} text=${why.run.node} /> since <${Time} at=${why.run.startedAt} />${why.run.returned ? '; its handler has returned, and the outcome is being written' : ''}.</p>` : null}
    ${why.reasons.length ? html`<ol class="reasons">${why.reasons.map((each, i) => html`<li key=${i} data-reason=${each.reason}><strong><bdi>${each.detail}</bdi></strong>
      <span class="faint">${each.since ? html`since <${Time} at=${each.since} />` : null}${each.until ? html`${each.since ? ', ' : ''}until <${Time} at=${each.until} />` : null}</span>
      <span>What ends it: <bdi>${each.ends}</bdi></span></li>`)}</ol>` : why.run ? null : html`<p>Nothing keeps it.</p>`}
    ${why.node ? null : html`<p class="faint">No node has it in memory at the moment.</p>`}`}<//><//>`;
}

// ---- what to do

function Actions({ job, namespace, again }) {
  const mine = access.use();
  const operator = may(mine, 'operator');
  const at = (verb, body) => post(inNamespace(namespace, 'jobs', job.id, verb), body);
  const what = job.name ?? job.type;
  const ended = hasEnded(job.state);
  const all = [];
  if (!ended && operator && job.recurring) all.push(html`<${Act} label="Trigger" words=${`One more occurrence of ${what} runs now.`} act=${() => at('trigger', {})} done="An occurrence is scheduled." then=${again} />`);
  if (!ended && operator && ['SCHEDULED', 'READY', 'BLOCKED'].includes(job.state) && !job.recurring) all.push(html`<${Act} label="Run now" words=${`${what} becomes due now, ${relative(job.dueAt)} by its time so far. It starts when nothing else keeps it.`} act=${() => at('reschedule', { in: 'PT0S' })} done="It is due now." then=${again} />`);
  if (!ended && operator) all.push(job.state === 'PAUSED'
    ? html`<${Act} label="Resume" ask=${false} act=${() => at('resume', {})} done="Resumed." then=${again} />`
    : html`<${Act} label="Pause" words=${`${what} does not start until somebody resumes it.${job.state === 'RUNNING' ? ' The attempt that runs goes on.' : ''}`} reason act=${({ reason }) => at('pause', { reason })} done="Paused." then=${again} />`);
  if (job.state === 'DEAD' && operator) {
    all.push(html`<${Act} label="Replay" words=${`${what} is tried again, as the same job.`} act=${() => at('replay', {})} done="It is tried again." then=${again} />`);
    all.push(html`<${ReplayEdited} job=${job} namespace=${namespace} again=${again} />`);
    all.push(html`<${Act} label="Discard" tone="danger" words=${`This dead letter is let go of: nobody finds it any more.`} act=${() => at('discard', {})} done="Discarded." then=${again} />`);
  }
  if (!ended && may(mine, 'submitter')) all.push(html`<${Act} label="Cancel" tone="danger" verb=${job.recurring ? 'Cancel the schedule' : 'Cancel the job'} words=${`1 job: ${what} ${job.state === 'RUNNING' ? 'is asked to stop; its handler is interrupted' : 'will not run'}.`} reason act=${({ reason }) => at('cancel', { reason })} done=${(answer) => ({ CANCELLED: 'Cancelled.', STOPPING: 'Its attempt is being stopped.', ENDED: 'It had ended before.' })[answer?.result] ?? 'Done.'} then=${again} />`);
  return all;
}

/** The input as it is, to be changed before the replay. */
function ReplayEdited({ job, namespace, again }) {
  const [input, setInput] = useState(undefined);
  useEffect(() => {
    payload(namespace, job.id, 'input').then((found) => setInput(found?.json ? found.text : null), () => setInput(null));
  }, [job.id]);
  if (input === undefined || input === null) return null;
  const act = ({ text }) => {
    let value;
    try {
      value = JSON.parse(text);
    } catch (e) {
      throw new Problem('invalid', 0, 'The input is not JSON: ' + e.message);
    }
    // Numbers that a browser cannot hold would change on the way: such an input is replayed as it is, or by curl.
    if (JSON.stringify(value).replace(/\s/g, '') !== text.replace(/\s/g, '') && /\d{16,}|\d[eE]|\.\d{15,}/.test(text)) throw new Problem('invalid', 0, 'The input has numbers that a browser would change. Send it with curl.');
    return post(inNamespace(namespace, 'jobs', job.id, 'replay'), { input: value });
  };
  return html`<${Act} label="Replay with another input…" title="Replay with another input" verb="Replay" words="It is tried again, as the same job, with this input." input=${{ label: 'Input (JSON)', value: input, rows: 10 }} act=${act} done="It is tried again with the new input." then=${again} />`;
}

// ---- the time line of attempts

/** What happens within an attempt of a workflow. */
const PARTS = /^(STEP|SIGNAL|CHILD|COMPENSATION)/;

/** Attempts with their times, from the events; pure. */
export function attempts(job, events) {
  const all = [];
  for (const event of events) {
    if (event.startedAt && event.attempt > 0 && !PARTS.test(event.kind)) {
      const known = all.find((each) => each.number === event.attempt && each.from === Date.parse(event.startedAt));
      const next = { number: event.attempt, from: Date.parse(event.startedAt), to: Date.parse(event.at), kind: event.kind, error: event.error, node: event.node ?? event.error?.node };
      if (known) Object.assign(known, next);
      else all.push(next);
    }
  }
  if (job.state === 'RUNNING' && job.startedAt) all.push({ number: job.attempt, from: Date.parse(job.startedAt), to: now(), kind: 'RUNNING', node: job.node });
  return all;
}

const BAD = /FAIL|RETR|DEAD|TIMED|LOST|EXPIRED/;

function Timeline({ job, events }) {
  const all = attempts(job, events);
  if (!all.length) return null;
  const start = Math.min(...all.map((each) => each.from), ...(Date.parse(job.dueAt) ? [Math.min(...all.map((each) => each.from))] : []));
  const end = Math.max(...all.map((each) => each.to), start + 1);
  const tone = (each) => (each.kind === 'RUNNING' ? 'run' : BAD.test(each.kind) ? 'bad' : each.kind === 'SUCCEEDED' ? 'good' : 'calm');
  return html`<${Card} title=${plural(all.length, 'attempt')} more=${html`<span class="faint">${duration(end - start)} from first to last</span>`}>
    <ol class="bars">${all.slice(-30).map((each, i) => html`<li key=${i}>
      <span class="n">${each.number}</span>
      <span class="track"><i class=${tone(each)} style=${{ left: Math.min(99.4, (100 * (each.from - start)) / (end - start)) + '%', width: Math.max(0.6, (100 * (each.to - each.from)) / (end - start)) + '%' }}></i></span>
      <span class="what"><b>${each.kind.toLowerCase().replaceAll('_', ' ')}</b> <span class="faint">after ${each.to > each.from ? duration(each.to - each.from) : 'less than 1 ms'}${each.node ? html`, <${Text} text=${each.node} />` : null}, <${Time} at=${each.from} /></span>${each.error ? html`<${Text} kind="error" text=${shortType(each.error.type) + ': ' + each.error.message} />` : null}</span>
    </li>`)}</ol><//>`;
}

// ---- history

function History({ data, namespace }) {
  const [older, setOlder] = useState([]);
  const [problem, setProblem] = useState(null);
  useEffect(() => setOlder([]), [data.job.id]);
  const next = older.length ? older[0].next : data.next;
  const events = [...older.flatMap((page) => page.events), ...data.events];
  const more = () => get(inNamespace(namespace, 'jobs', data.job.id, 'history') + '?cursor=' + encodeURIComponent(next)).then((page) => setOlder([page, ...older]), setProblem);
  return html`<${Card} title="History">
    ${next ? html`<p><button type="button" onClick=${more}>Older events</button></p>` : null}<${ProblemBox} problem=${problem} />
    <${Table} label="History" head=${['When', 'What', 'Attempt', 'By', 'Detail']}>${events.map((event, i) => html`<tr key=${i}>
      <td><${Time} at=${event.at} style="exact" /></td><td>${event.kind.toLowerCase().replaceAll('_', ' ')}</td><td class="n">${event.attempt || ''}</td>
      <td>${event.by ? html`<${Text} text=${event.by} />` : event.node ? html`<${Text} text=${event.node} />` : ''}</td>
      <td>${event.detail ? html`<${Text} text=${event.detail} />` : null}${event.error ? html`<${Text} kind="error" text=${shortType(event.error.type) + ': ' + event.error.message} />` : null}</td></tr>`)}<//><//>`;
}

// ---- input and result

const SHOWN_CHARS = 20_000;

async function payload(namespace, id, part, signal) {
  const response = await send('GET', inNamespace(namespace, 'jobs', id, part), { signal });
  if (response.status === 204 || response.status === 202) return null;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const type = response.headers.get('Content-Type') ?? '';
  const codec = response.headers.get('Carillon-Codec');
  const json = type.startsWith('application/json');
  let text = null;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch { /* bytes */ }
  return { bytes: bytes.length, text: text ?? [...bytes.slice(0, 512)].map((b) => b.toString(16).padStart(2, '0')).join(' '), json: json && text !== null, codec, binary: text === null };
}

function pretty(text) {
  try {
    // Only where nothing of it changes: large numbers and repeated fields stay as they were sent.
    const value = JSON.parse(text);
    const next = JSON.stringify(value, null, 2);
    return next.replace(/\s/g, '') === text.replace(/\s/g, '') ? next : text;
  } catch {
    return text;
  }
}

function Payload({ namespace, id, part, title }) {
  const [raw, setRaw] = useState(false);
  const [whole, setWhole] = useState(false);
  const ask = useAsk(part + id, (signal) => payload(namespace, id, part, signal), 0);
  const found = ask.data;
  const text = found ? (raw || !found.json ? found.text : pretty(found.text)) : '';
  const more = found ? html`<span class="faint">${count(found.bytes)} bytes${found.codec ? ', codec ' + found.codec : ''}</span> ${found.json ? html`<button type="button" class="small" aria-pressed=${raw} onClick=${() => setRaw(!raw)}>Raw</button>` : null} <${Copy} text=${found.text} what=${title.toLowerCase()} />` : null;
  return html`<${Card} title=${title} more=${more}><${Shown} ask=${ask}>${() => !found ? html`<${Empty}>None.<//>` : html`
    ${found.binary ? html`<p class="faint">Not text: the first bytes.</p>` : null}
    <pre class="payload" tabindex="0" aria-label=${title}>${whole ? text : text.slice(0, SHOWN_CHARS)}</pre>
    ${text.length > SHOWN_CHARS && !whole ? html`<button type="button" onClick=${() => setWhole(true)}>Show all ${count(text.length)} characters</button>` : null}`}<//><//>`;
}

// ---- a workflow's steps as a waterfall

/** What came from outside, as rows between the steps: signals, children, timers. */
const OUTSIDE = { SIGNALLED: 'signal', SIGNAL_AWAITED: 'waits for', CHILD_STARTED: 'child', CHILD_ENDED: 'child ended', TIMER_FIRED: 'timer' };
const STEP_TONES = { DONE: 'good', FAILED: 'bad', RETRYING: 'warn', BEGUN: 'run' };

const shortened = (text) => (text.length > 200 ? text.slice(0, 200) + '…' : text);

function WorkflowSteps({ job, events, namespace }) {
  const ask = useAsk('steps-' + job.id + job.state + job.attempt, (signal) => get(inNamespace(namespace, 'jobs', job.id, 'workflow'), signal), hasEnded(job.state) ? 0 : 3_000);
  const workflow = ask.data;
  if (!workflow || (!workflow.steps.length && !workflow.waitsFor)) return null;
  const rows = [
    ...workflow.steps.map((step) => ({ from: Date.parse(step.startedAt ?? step.at), to: Date.parse(step.at), step })),
    ...events.filter((event) => OUTSIDE[event.kind]).slice(-100).map((event) => ({ from: Date.parse(event.at), to: Date.parse(event.at), event })),
  ].sort((x, y) => x.from - y.from);
  const from = rows[0]?.from ?? 0;
  const to = Math.max(...rows.map((row) => row.to), from + 1);
  const waits = workflow.waitsFor;
  const child = (id) => html`<a class="id" key=${id} href=${link(namespace, 'jobs', [id])}>${id.slice(-12)}</a> `;
  return html`<${Card} title="Steps" more=${workflow.stepsLeftOut ? html`<span class="faint">${plural(workflow.stepsLeftOut, 'older step')} left out</span>` : null}>
    <ol class="bars steps">${rows.map(({ step, event, ...row }, i) => html`<li key=${i}><span class="n">${i + 1}</span>
        <span class="track"><i class=${step ? STEP_TONES[step.state] : 'accent'} style=${{ left: Math.min(99.4, (100 * (row.from - from)) / (to - from)) + '%', width: Math.max(0.6, (100 * (row.to - row.from)) / (to - from)) + '%' }}></i></span>
        ${step ? html`<span class="what"><b><${Text} text=${step.name} /></b> <span class="faint">${step.state.toLowerCase()} <${Time} at=${step.at} />${step.tries > 1 ? `, ${step.tries} tries` : ''}${step.nextAt ? html`, again <${Time} at=${step.nextAt} />` : null}${step.resultBytes ? `, ${count(step.resultBytes)} bytes` : ''}</span>${'result' in step ? html` <code><${Text} text=${shortened(JSON.stringify(step.result))} /></code>` : null}${step.error ? html`<${Text} kind="error" text=${shortType(step.error.type) + ': ' + step.error.message} />` : null}</span>`
          : html`<span class="what"><span class="faint">${OUTSIDE[event.kind]}</span> <${Text} text=${event.detail ?? ''} /> <span class="faint"><${Time} at=${event.at} /></span></span>`}</li>`)}</ol>
    ${waits ? html`<p>Waits for ${waits.signals.length ? html`the signal <b><bdi>${waits.signals.join(', ')}</bdi></b>` : null}${waits.children.length ? html` ${waits.allChildren ? 'all of' : 'one of'} ${waits.children.map(child)}` : null}${waits.until ? html` until <${Time} at=${waits.until} />` : null}.
      ${may(access.use(), 'submitter') ? waits.signals.map((type) => html` <${Act} key=${type} label=${'Signal ' + type + '…'} title="Send a signal" verb="Send" words=${`The workflow gets the signal ${type} with this payload, once.`} input=${{ label: 'Payload (JSON), or nothing', value: '', rows: 3 }} act=${({ text }) => signal(namespace, job.id, type, text)} done="It has the signal." then=${ask.again} />`) : null}</p>` : null}<//>
    <${Payload} namespace=${namespace} id=${job.id} part="published" title="Published" />`;
}

function signal(namespace, id, type, text) {
  try {
    return post(inNamespace(namespace, 'jobs', id, 'signal'), { type, ...(text.trim() ? { payload: JSON.parse(text) } : {}) });
  } catch (e) {
    throw new Problem('invalid', 0, 'The payload is not JSON: ' + e.message);
  }
}

/** How far the handler says it is. */
const Progress = ({ progress }) => html`${progress.total ? html`<progress max=${progress.total} value=${progress.done} aria-label="Progress"></progress> ${count(progress.done)} of ${count(progress.total)}${progress.perSecond ? `, ${rate(progress.perSecond)}/s` : ''} ` : null}${progress.message ? html`<${Text} text=${progress.message} /> ` : null}<span class="faint"><${Time} at=${progress.at} /></span>`;

// ---- occurrences

export function Occurrences({ job, namespace }) {
  const where = inNamespace(namespace, 'jobs') + '?' + new URLSearchParams([['occurrencesOf', job.id], ['newest', 'true'], ['limit', '30'], ['within', WITHIN]]);
  const ask = useAsk(where, (signal) => get(where, signal), 10_000);
  return html`<${Card} title="Last occurrences" more=${html`<a href=${link(namespace, 'jobs', [], [['occurrencesOf', job.id], ['newest', 'true']])}>All</a>`}><${Shown} ask=${ask}>${(page) => page.items.length === 0 ? html`<${Empty}>None has ended yet.<//>` : html`
    <${Strip} jobs=${page.items} namespace=${namespace} /><${JobTable} jobs=${page.items.slice(0, 5)} namespace=${namespace} label="Last occurrences" />`}<//><//>`;
}

/** One mark an occurrence, the newest on the right. */
export const Strip = ({ jobs, namespace }) => html`<ol class="strip">${[...jobs].reverse().map((job) => html`<li key=${job.id}><a class=${job.state.toLowerCase()} href=${link(namespace, 'jobs', [job.id])} title=${job.state.toLowerCase() + ', ' + exact(job.endedAt ?? job.dueAt)} aria-label=${job.state.toLowerCase() + ' ' + exact(job.endedAt ?? job.dueAt)}></a></li>`)}</ol>`;
