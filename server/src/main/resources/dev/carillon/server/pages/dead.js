// Dead letters by what they failed with: look at one, replay or discard the group.
import { html, Card, Empty, link, ProblemBox, Shown, Text, Time, Title, toast } from './parts.js';
import { access, get, inNamespace, may, post, Problem, query, useAsk, WITHIN } from './api.js';
import { count, now, plural } from './format.js';
import { show } from './dialogs.js';
import { shortType } from './jobs.js';
import { useEffect, useRef, useState } from './vendor-preact-htm.js';

const MOST = 5_000;
const AT_ONCE = 4;
const HOUR = 3_600_000;
const HOURS = 24;

/** The groups of two pages as one: what failed alike is one group. */
function joined(page, more) {
  const groups = new Map(page.items.map((group) => [group.type + '\n' + group.fingerprint, group]));
  for (const group of more.items) {
    const key = group.type + '\n' + group.fingerprint;
    const same = groups.get(key);
    // The page behind has what ended before.
    groups.set(key, same ? { ...same, count: same.count + group.count, earliestAt: group.earliestAt, byHour: [...group.byHour, ...same.byHour] } : group);
  }
  return { items: [...groups.values()].sort((a, b) => b.count - a.count), next: more.next, unreadable: [...new Set([...(page.unreadable ?? []), ...(more.unreadable ?? [])])] };
}

/** All that ended since then was counted; all of them where there is no more. */
const countedFrom = (page) => (page.next ? Math.min(now(), ...page.items.map((group) => Date.parse(group.earliestAt))) : 0);

/** How many ended in each of the last hours; those that were not read are grey. */
function Trend({ group, from }) {
  const last = Math.floor(now() / HOUR);
  const counts = {};
  for (const each of group.byHour) counts[Date.parse(each.from) / HOUR] = (counts[Date.parse(each.from) / HOUR] ?? 0) + each.count;
  const hours = Array.from({ length: HOURS }, (_, i) => last - HOURS + 1 + i);
  const most = Math.max(1, ...hours.map((at) => counts[at] ?? 0));
  const sum = hours.reduce((n, at) => n + (counts[at] ?? 0), 0);
  const bar = (at) => (counts[at] ? Math.max(2, Math.round((20 * counts[at]) / most)) : 0);
  return html`<svg class="trend" viewBox=${`0 0 ${4 * HOURS} 20`} role="img" aria-label=${`${from > (last - HOURS + 1) * HOUR ? 'At least ' : ''}${sum} in the last ${HOURS} hours, ${counts[last] ?? 0} in this one.`}>
    ${hours.map((at, i) => html`<rect key=${at} class=${counts[at] ? 'some' : (at + 1) * HOUR <= from ? 'unread' : 'none'} x=${4 * i} y=${20 - (bar(at) || 1)} width="3" height=${bar(at) || 1} />`)}</svg>`;
}

export function DeadLetters({ namespace }) {
  const where = inNamespace(namespace, 'dead-letters', 'groups') + query({ within: WITHIN });
  const ask = useAsk(where, (signal) => get(where, signal), 15_000);
  const [older, setOlder] = useState(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => setOlder(null), [where]);
  const operator = may(access.use(), 'operator');
  const again = () => (setOlder(null), ask.again());
  const act = (group, verb) => show(verb === 'replay' ? 'Replay a group' : 'Discard a group', GroupDialog, { namespace, group, verb, then: again });
  const goOn = (page) => {
    setBusy(true);
    get(where + '&cursor=' + encodeURIComponent(page.next)).then((more) => setOlder(joined(page, more)), (e) => toast(e.message, 'bad')).finally(() => setBusy(false));
  };
  return html`<${Title} sub="Jobs that were given up, grouped by their error." actions=${html`<a class="button" href=${link(namespace, 'jobs', [], { state: 'DEAD' })}>As a list</a>`}>Dead letters<//>
    <${Shown} ask=${older ? { ...ask, data: older } : ask}>${(page) => html`
      ${page.unreadable?.length ? html`<div class="notice warn" role="status"><strong>Not complete.</strong> ${plural(page.unreadable.length, 'part')} of the store cannot be read.</div>` : null}
      ${page.items.length === 0 && !page.next ? html`<${Card}><${Empty}>There are none. Nothing was given up.<//><//>` : null}
      <div class="groups">${page.items.map((group) => html`<${Card} key=${group.type + group.fingerprint} kind="group">
        <div class="head"><strong class="many">${page.next ? '≥ ' : ''}${count(group.count)}</strong><div><h2><${Text} text=${group.type} /></h2><p class="faint">first <${Time} at=${group.earliestAt} />${page.next ? ' or before' : ''}, last <${Time} at=${group.latestAt} /> · <a href=${link(namespace, 'jobs', [group.latest])}>the newest of them</a> · <a href=${link(namespace, 'jobs', [], { state: 'DEAD', type: group.type })}>all of this type</a></p></div><${Trend} group=${group} from=${countedFrom(page)} /></div>
        <p class="errorline"><code><bdi>${shortType(group.error.type)}</bdi></code></p><pre class="message"><bdi>${group.error.message}</bdi></pre>
        ${operator ? html`<div class="actions"><button type="button" onClick=${() => act(group, 'replay')}>Replay…</button><button type="button" class="danger" onClick=${() => act(group, 'discard')}>Discard…</button></div>` : null}<//>`)}</div>
      ${page.next ? html`<footer class="pages"><span class="faint">${page.items.length ? html`Counted is what ended since <${Time} at=${new Date(countedFrom(page)).toISOString()} />; there is more.` : 'None in what was read so far; there is more.'}</span><button type="button" disabled=${busy} onClick=${() => goOn(page)}>Go on reading</button></footer>` : null}
      ${older ? html`<footer class="pages"><span class="faint">Read a while ago, and not again since.</span><button type="button" onClick=${again}>Read anew</button></footer>` : null}`}<//>`;
}

/** What a fingerprint can tell of a job in a list: the type, the error, its message without numbers. */
const likeness = (type, error) => JSON.stringify([type, error?.type, (error?.message ?? '').replace(/[0-9]+/g, '#')]);

async function members(namespace, group, over) {
  const wanted = likeness(group.type, group.error);
  const found = [];
  let cursor;
  do {
    const page = await get(inNamespace(namespace, 'jobs') + query({ state: 'DEAD', type: group.type, limit: 500, cursor }));
    found.push(...page.items.filter((job) => likeness(job.type, job.lastError) === wanted));
    cursor = page.next;
  } while (cursor && found.length < MOST && !over());
  return { jobs: found.slice(0, MOST), complete: !cursor };
}

/** Finds them, says how many, asks once, then goes through exactly these. */
function GroupDialog({ namespace, group, verb, then, close }) {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  const [progress, setProgress] = useState(null);
  const [input, setInput] = useState('');
  const over = useRef(false);
  useEffect(() => {
    members(namespace, group, () => over.current).then(setFound, setProblem);
    return () => {
      over.current = true;
      then?.();
    };
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    setProblem(null);
    let body = {};
    try {
      if (input.trim()) body = { input: JSON.parse(input) };
    } catch (e) {
      setProblem(new Problem('invalid', 0, 'The input is not JSON: ' + e.message));
      return;
    }
    const queue = [...found.jobs];
    const state = { done: 0, not: 0, all: queue.length };
    setProgress({ ...state });
    const work = async () => {
      while (queue.length && !over.current) {
        const job = queue.shift();
        try {
          await post(inNamespace(namespace, 'jobs', job.id, verb), body);
          state.done++;
        } catch (e) {
          state.not++;
          setProblem(e);
          if (e.status === 0 || e.status === 401 || e.status >= 500) queue.length = 0;
        }
        setProgress({ ...state });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setProgress({ ...state, over: true });
  };
  const word = verb === 'replay' ? 'tried again' : 'discarded';
  return html`<form onSubmit=${submit}>
    <p class="errorline"><code><bdi>${group.error.type}</bdi></code></p><pre class="message"><bdi>${group.error.message}</bdi></pre>
    ${progress ? html`<p role="status" data-done=${progress.over ? progress.done : undefined}><strong>${count(progress.done)} of ${count(progress.all)} ${word}</strong>${progress.not ? `, ${count(progress.not)} did not take it` : ''}.</p>
        <progress max=${progress.all || 1} value=${progress.done + progress.not} aria-label="How far it is"></progress>
        ${progress.over ? null : html`<p class="faint small">Closing this stops it. What is done stays done.</p>`}`
      : found ? html`<p><strong>${plural(found.jobs.length, 'dead letter')}</strong> of the type <${Text} text=${group.type} /> with this error ${verb === 'replay' ? 'will be tried again, as the same jobs' : 'will be let go of: nobody finds them any more'}.${found.complete ? '' : ' There are more: do it again afterwards.'}</p>`
      : problem ? null : html`<p aria-busy="true">Counting…</p>`}
    ${verb === 'replay' && !progress ? html`<label>Another input (JSON) for all of them, or nothing<textarea rows="3" value=${input} onInput=${(e) => setInput(e.currentTarget.value)} spellcheck="false"></textarea></label>` : null}
    <${ProblemBox} problem=${problem} />
    <footer>${progress?.over ? null : html`<button type="button" onClick=${close}>${progress ? 'Stop' : 'Leave it'}</button>`}
      ${progress?.over ? html`<button type="button" class="primary" onClick=${close}>Close</button>` : html`<button type="submit" class=${verb === 'discard' ? 'danger' : 'primary'} disabled=${!found || !found.jobs.length || progress}>${verb === 'replay' ? 'Replay' : 'Discard'} ${found ? count(found.jobs.length) : ''}</button>`}</footer>
  </form>`;
}
