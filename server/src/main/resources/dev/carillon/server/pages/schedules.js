// Schedules: in words, the times to come with what clock changes do to them, and edits with a preview.
import { html, Card, Empty, Facts, go, link, ProblemBox, Shown, State, Table, Text, Time, Title } from './parts.js';
import { access, get, getPage, inNamespace, may, post, put, del, useAsk, WITHIN } from './api.js';
import { count, plural, relative } from './format.js';
import { Act, show } from './dialogs.js';
import { Occurrences } from './job.js';
import { useLive } from './live.js';
import { toast } from './parts.js';
import { useEffect, useState } from './vendor-preact-htm.js';

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export function Schedules({ namespace, search }) {
  const prefix = search.get('prefix') ?? '';
  const cursor = search.get('cursor') ?? '';
  const where = inNamespace(namespace, 'schedules') + '?' + new URLSearchParams({ limit: 50, within: WITHIN, ...(prefix ? { prefix } : {}), ...(cursor ? { cursor } : {}) });
  const ask = useAsk(where, (signal) => getPage(where, signal), 10_000);
  const operator = may(access.use(), 'operator');
  const [text, setText] = useState(prefix);
  const find = (event) => {
    event.preventDefault();
    go(link(namespace, 'schedules', [], text ? { prefix: text } : null));
  };
  return html`<${Title} sub="Jobs that come again." actions=${may(access.get(), 'submitter') ? html`<button type="button" class="primary" onClick=${() => show('A new schedule', EditDialog, { namespace, then: (name) => go(link(namespace, 'schedules', [name])) })}>New schedule…</button>` : null}>Schedules<//>
    <form class="query" role="search" onSubmit=${find}><input aria-label="How the name begins" placeholder="how the name begins" value=${text} onInput=${(e) => setText(e.currentTarget.value)} /><button type="submit">Find</button></form>
    <${Card}><${Shown} ask=${ask}>${(page) => html`${page.items.length === 0 ? html`<${Empty}>${page.next ? 'None in what was looked through so far; there is more.' : prefix ? 'No name begins so.' : 'There is no schedule yet.'}<//>` : html`
      <${Table} label="Schedules" head=${['Name', 'Type', 'When', 'Next', 'Ran', 'State', '']}>${page.items.map((job) => html`<tr key=${job.id}>
        <td><a href=${link(namespace, 'schedules', [job.name])}><${Text} text=${job.name} /></a></td><td><${Text} text=${job.type} /></td>
        <td class="wide"><${Text} text=${job.recurring.schedule.words} /></td><td>${job.state === 'PAUSED' ? html`<span class="faint">paused</span>` : html`<${Time} at=${job.recurring.nextTime} />`}</td><td class="n">${count(job.recurring.count)}</td>
        <td><${State} state=${job.state} /></td><td class="acts">${operator ? html`<${PauseOrResume} job=${job} namespace=${namespace} again=${ask.again} />` : null}</td></tr>`)}<//>`}
      <footer class="pages">${cursor ? html`<a class="button" href=${link(namespace, 'schedules', [], prefix ? { prefix } : null)}>First page</a>` : null}${page.next ? html`<a class="button" href=${link(namespace, 'schedules', [], { ...(prefix ? { prefix } : {}), cursor: page.next })}>Next page</a>` : null}</footer>`}<//><//>`;
}

const at = (namespace, job, verb, body = {}) => post(inNamespace(namespace, 'schedules', job.name, verb), body);

function PauseOrResume({ job, namespace, again }) {
  return job.state === 'PAUSED'
    ? html`<${Act} label="Resume" ask=${false} act=${() => at(namespace, job, 'resume')} done="Resumed. What it missed follows its misfire rule." then=${again} />`
    : html`<${Act} label="Pause" words=${`${job.name} has no occurrences until somebody resumes it.`} reason act=${({ reason }) => at(namespace, job, 'pause', { reason })} done="Paused." then=${again} />`;
}

export function SchedulePage({ namespace, name }) {
  const ask = useAsk('schedule ' + namespace + ' ' + name, (signal) => get(inNamespace(namespace, 'schedules', name), signal));
  useLive((event) => event.id === ask.data?.id, () => ask.again(), 1_000);
  const job = ask.data;
  const version = job ? job.recurring.version + job.state + job.recurring.nextTime : '';
  const preview = useAsk('preview ' + namespace + ' ' + name + ' ' + version, (signal) => get(inNamespace(namespace, 'schedules', name, 'preview') + '?count=10', signal), 60_000);
  const mine = access.use();
  const operator = may(mine, 'operator');
  const actions = job ? html`
    ${operator ? html`<${Act} label="Trigger" words=${`One more occurrence of ${name} runs now. Its times to come stay.`} act=${() => post(inNamespace(namespace, 'jobs', job.id, 'trigger'), {})} done="An occurrence is scheduled." then=${ask.again} />
      <${PauseOrResume} job=${job} namespace=${namespace} again=${ask.again} />
      <button type="button" onClick=${() => show('Edit ' + name, EditDialog, { namespace, job, then: ask.again })}>Edit…</button>` : null}
    ${may(mine, 'submitter') ? html`<${Act} label="Delete" tone="danger" words=${`1 schedule: ${name} has no further occurrences. Those that run go on.`} act=${() => del(inNamespace(namespace, 'schedules', name))} done="Deleted." then=${() => go(link(namespace, 'schedules'))} />` : null}` : null;
  return html`<${Title} sub=${job ? html`<${Text} text=${job.recurring.schedule.words} />` : null} actions=${actions}><${Text} text=${name} /> ${job ? html`<${State} state=${job.state} />` : null}<//>
    <${Shown} ask=${ask}>${(job) => html`<div class="columns">
      <${Card} title="The next ten times" more=${job.state === 'PAUSED' ? html`<span class="warn">paused: none of them until it is resumed</span>` : null}><${Shown} ask=${preview}>${(data) => html`<${Times} preview=${data} />`}<//><//>
      <${Card} title="The schedule"><${Facts} facts=${[
        ['Type', html`<${Text} text=${job.type} />`],
        ['Queue', html`<a href=${link(namespace, 'queues', [job.queue])}><${Text} text=${job.queue} /></a>`],
        job.recurring.schedule.cron && ['Cron', html`<code><bdi>${job.recurring.schedule.cron}</bdi></code>`],
        job.recurring.schedule.zone && ['Zone', job.recurring.schedule.zone],
        ['If the former still runs', OVERLAP[job.recurring.schedule.overlap]],
        ['If a time was missed', MISFIRE[job.recurring.schedule.misfire]],
        job.recurring.schedule.gap && ['If a clock change skips it', job.recurring.schedule.gap === 'SKIP' ? 'left out' : 'at the first valid time'],
        job.recurring.schedule.clockOverlap && ['If a clock change repeats it', { FIRST: 'the first of the two', SECOND: 'the second of the two', BOTH: 'both' }[job.recurring.schedule.clockOverlap]],
        ['Occurrences', count(job.recurring.count)],
        ['Changed', job.recurring.version ? plural(job.recurring.version, 'time') : 'never'],
        ['Job', html`<a class="id" href=${link(namespace, 'jobs', [job.id])}>${job.id.slice(-12)}</a>`],
      ]} /><//></div>
      <${Occurrences} job=${job} namespace=${namespace} />`}<//>`;
}

const OVERLAP = { SKIP: 'the next is skipped', BUFFER_ONE: 'one waits', BUFFER_ALL: 'all wait', CANCEL_RUNNING: 'it is cancelled', ALLOW: 'both run' };
const MISFIRE = { RUN_ONE: 'it runs once', RUN_ALL: 'all run', SKIP: 'it is skipped' };

const Times = ({ preview }) => preview.times.length === 0 ? html`<${Empty}>It has no further time.<//>` : html`
  <ol class="times">${preview.times.map((each) => html`<li key=${each.time}><span class="when">${each.local.replace('T', ' ').replace(/([+-]\d\d:\d\d|Z)(\[.*)?$/, ' $1')}</span><span class="faint">${each.zone} · ${relative(each.time)}</span>
    ${(each.notes ?? []).map((note) => html`<span class="note" key=${note}><bdi>${note}</bdi></span>`)}</li>`)}</ol>`;

/** Nothing is saved before its times were seen. */
function EditDialog({ namespace, job, then, close }) {
  const old = job?.recurring.schedule;
  const [kind, setKind] = useState(old?.every ? 'every' : old?.afterEach ? 'afterEach' : 'cron');
  const [name, setName] = useState(job?.name ?? '');
  const [type, setType] = useState(job?.type ?? '');
  const [value, setValue] = useState(old?.cron ?? old?.every ?? old?.afterEach ?? '0 9 * * MON-FRI');
  const [zone, setZone] = useState(old?.zone ?? browserZone);
  const [preview, setPreview] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const keep = old ? Object.fromEntries(Object.entries(old).filter(([field]) => !['cron', 'every', 'afterEach', 'zone', 'words'].includes(field) && (kind === 'cron' || !['gap', 'clockOverlap'].includes(field)))) : {};
  const schedule = kind === 'cron' ? { ...keep, cron: value, zone } : { ...keep, [kind]: value };
  const text = JSON.stringify(schedule);
  useEffect(() => {
    let over = false;
    const timer = setTimeout(() => {
      post(inNamespace(namespace, 'preview'), { schedule, count: 10 }).then((data) => over || (setPreview({ text, data }), setProblem(null)), (e) => over || (setPreview(null), setProblem(e)));
    }, 250);
    return () => ((over = true), clearTimeout(timer));
  }, [text]);
  const seenIt = preview?.text === text;
  const submit = async (event) => {
    event.preventDefault();
    if (!seenIt || busy) return;
    setBusy(true);
    try {
      if (job) await post(inNamespace(namespace, 'jobs', job.id, 'reschedule'), { schedule });
      else await put(inNamespace(namespace, 'schedules', name), { type, schedule }, { 'If-None-Match': '*' });
      close();
      toast(job ? 'The schedule is changed.' : 'The schedule is there.');
      then?.(name);
    } catch (e) {
      setProblem(e);
      setBusy(false);
    }
  };
  return html`<form onSubmit=${submit}>
    ${job ? null : html`<label>Name<input required maxlength="1024" value=${name} onInput=${(e) => setName(e.currentTarget.value)} /></label><label>Type<input required maxlength="200" value=${type} onInput=${(e) => setType(e.currentTarget.value)} /></label>`}
    <fieldset><legend>Comes</legend><div class="choices">${[['cron', 'by cron'], ['every', 'every so often'], ['afterEach', 'so long after each end']].map(([each, words]) => html`<label key=${each}><input type="radio" name="kind" checked=${kind === each} onChange=${() => setKind(each)} />${words}</label>`)}</div></fieldset>
    <div class="pair"><label>${kind === 'cron' ? 'Cron' : 'Duration, such as 90s or PT15M'}<input required value=${value} onInput=${(e) => setValue(e.currentTarget.value)} spellcheck="false" /></label>
    ${kind === 'cron' ? html`<label>Zone<input required value=${zone} onInput=${(e) => setZone(e.currentTarget.value)} spellcheck="false" /></label>` : null}</div>
    <${ProblemBox} problem=${problem} />
    <div class="preview" aria-live="polite">${seenIt ? html`<p><strong><bdi>${preview.data.words}</bdi></strong></p><${Times} preview=${preview.data} />` : problem ? null : html`<p aria-busy="true">Asking…</p>`}</div>
    <footer><button type="button" onClick=${close}>Leave it</button><button type="submit" class="primary" disabled=${!seenIt || busy}>${job ? 'Change it' : 'Create it'}</button></footer>
  </form>`;
}
