// Dead letters by what they failed with: look at one, replay or discard the group.
import { html, Card, Empty, link, ProblemBox, Shown, Text, Time, Title } from './parts.js';
import { access, get, inNamespace, may, post, query, useAsk } from './api.js';
import { count, plural } from './format.js';
import { show } from './dialogs.js';
import { shortType } from './jobs.js';
import { useEffect, useRef, useState } from './vendor-preact-htm.js';

const MOST = 5_000;
const AT_ONCE = 4;

export function DeadLetters({ namespace, search }) {
  const cursor = search.get('cursor') ?? '';
  const where = inNamespace(namespace, 'dead-letters', 'groups') + query({ cursor });
  const ask = useAsk(where, (signal) => get(where, signal), 15_000);
  const operator = may(access.use(), 'operator');
  const act = (group, verb) => show(verb === 'replay' ? 'Replay a group' : 'Discard a group', GroupDialog, { namespace, group, verb, then: ask.again });
  return html`<${Title} sub="Jobs that were given up, grouped by their error." actions=${html`<a class="button" href=${link(namespace, 'jobs', [], { state: 'DEAD' })}>As a list</a>`}>Dead letters<//>
    <${Shown} ask=${ask}>${(page) => html`
      ${page.unreadable?.length ? html`<div class="notice warn" role="status"><strong>Not complete.</strong> ${plural(page.unreadable.length, 'part')} of the store cannot be read.</div>` : null}
      ${page.items.length === 0 && !page.next ? html`<${Card}><${Empty}>There are none. Nothing was given up.<//><//>` : null}
      <div class="groups">${page.items.map((group) => html`<${Card} key=${group.fingerprint} kind="group">
        <div class="head"><strong class="many">${page.next ? '≥ ' : ''}${count(group.count)}</strong><div><h2><${Text} text=${group.type} /></h2><p class="faint">last <${Time} at=${group.latestAt} /> · <a href=${link(namespace, 'jobs', [group.latest])}>the newest of them</a> · <a href=${link(namespace, 'jobs', [], { state: 'DEAD', type: group.type })}>all of this type</a></p></div></div>
        <p class="errorline"><code><bdi>${shortType(group.error.type)}</bdi></code></p><pre class="message"><bdi>${group.error.message}</bdi></pre>
        ${operator ? html`<div class="actions"><button type="button" onClick=${() => act(group, 'replay')}>Replay…</button><button type="button" class="danger" onClick=${() => act(group, 'discard')}>Discard…</button></div>` : null}<//>`)}</div>
      ${page.next ? html`<footer class="pages"><span class="faint">Reading stopped after five seconds: counts are of what was read.</span><a class="button" href=${link(namespace, 'dead-letters', [], { cursor: page.next })}>Go on reading</a></footer>` : null}`}<//>`;
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
    const queue = [...found.jobs];
    const state = { done: 0, not: 0, all: queue.length };
    setProgress({ ...state });
    const work = async () => {
      while (queue.length && !over.current) {
        const job = queue.shift();
        try {
          await post(inNamespace(namespace, 'jobs', job.id, verb), {});
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
    <${ProblemBox} problem=${problem} />
    <footer>${progress?.over ? null : html`<button type="button" onClick=${close}>${progress ? 'Stop' : 'Leave it'}</button>`}
      ${progress?.over ? html`<button type="button" class="primary" onClick=${close}>Close</button>` : html`<button type="submit" class=${verb === 'discard' ? 'danger' : 'primary'} disabled=${!found || !found.jobs.length || progress}>${verb === 'replay' ? 'Replay' : 'Discard'} ${found ? count(found.jobs.length) : ''}</button>`}</footer>
  </form>`;
}
