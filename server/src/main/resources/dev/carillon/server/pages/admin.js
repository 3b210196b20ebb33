// Who changed what, tokens, and what is set: of this browser and of the namespace.
import { html, Card, Copy, Empty, Facts, go, link, ProblemBox, Shown, State, Table, Text, Time, Title, toast } from './parts.js';
import { access, base, del, get, getPage, inNamespace, may, path, post, put, query, useAsk, WITHIN } from './api.js';
import { isoDuration, timeStyle } from './format.js';
import { theme } from './charts.js';
import { Act, show } from './dialogs.js';
import { useState } from './vendor-preact-htm.js';

const AUDIT = 'carillon.audit';

// ---- audit

export function Audit({ namespace, search }) {
  const outcome = search.get('outcome') ?? '';
  const caller = search.get('caller') ?? '';
  const cursor = search.get('cursor') ?? '';
  const [text, setText] = useState(caller);
  const where = inNamespace(AUDIT, 'jobs') + query({ newest: true, limit: 50, within: WITHIN, cursor, 'meta.outcome': outcome, 'meta.caller': caller });
  const ask = useAsk(where, (signal) => getPage(where, signal), cursor ? 0 : 5_000);
  const to = (next) => go(link(namespace, 'audit', [], Object.entries({ outcome, caller, ...next }).filter(([, value]) => value)));
  const submit = (event) => {
    event.preventDefault();
    to({ caller: text });
  };
  return html`<${Title} sub="Changes by operators and admins, and what was refused. Each entry is an ended job of the namespace ${AUDIT}.">Audit<//>
    <form class="query" role="search" onSubmit=${submit}><input aria-label="Who" placeholder="by whom" value=${text} onInput=${(e) => setText(e.currentTarget.value)} /><button type="submit">Show</button></form>
    <div class="chips" role="group" aria-label="Outcomes">${['', 'done', 'denied', 'unknown'].map((each) => html`<button type="button" key=${each} class="chip" aria-pressed=${outcome === each} onClick=${() => to({ outcome: each })}>${each || 'all'}</button>`)}</div>
    <${Card}><${Shown} ask=${ask}>${(page) => html`${page.items.length ? html`<${Table} label="Audit" head=${['When', 'Who', 'What', 'Namespace', 'Outcome', 'Entry']}>${page.items.map(({ id, scheduledAt, metadata = {} }) => html`<tr key=${id}>
      <td><${Time} at=${scheduledAt} style="exact" /></td><td><${Text} text=${metadata.caller ?? '–'} /></td><td><${Text} text=${metadata.operation} /></td><td><${Text} text=${metadata.namespace ?? '–'} /></td>
      <td class=${metadata.outcome === 'denied' ? 'bad' : metadata.outcome === 'unknown' ? 'warn' : ''}>${metadata.outcome}</td><td><a class="id" href=${link(AUDIT, 'jobs', [id])}>${id.slice(-12)}</a></td></tr>`)}<//>` : html`<${Empty}>${page.next ? 'None on this page; there are more pages.' : 'There is no such entry.'}<//>`}
      ${page.next ? html`<footer class="pages"><a class="button" href=${link(namespace, 'audit', [], { outcome, caller, cursor: page.next })}>Older</a></footer>` : null}`}<//><//>`;
}

// ---- tokens

export function Tokens() {
  const ask = useAsk('tokens', (signal) => get('v1/tokens', signal), 10_000);
  const admin = may(access.use(), 'admin', true);
  const at = (token, verb, body = {}) => post(path('v1', 'tokens', token, verb), body);
  const made = (title) => (answer) => (ask.again(), show(title, Secret, { secret: answer.secret }), 'Copy the secret now.');
  return html`<${Title} sub="Each with a role in some namespaces and queues. A secret is shown once." actions=${admin ? html`<button type="button" onClick=${() => show('New token', NewToken, { then: made('The new token') })}>New token…</button>` : null}>Tokens<//>
    <${Card}><${Shown} ask=${ask}>${({ items }) => items.length === 0 ? html`<${Empty}>There are none.<//>` : html`<${Table} label="Tokens" head=${['Name', 'Id', 'Role', 'Namespaces', 'Queues', 'Made', 'Until', '']}>${items.map((token) => html`<tr key=${token.id} class=${token.endedAt ? 'faint' : ''}>
      <td><${Text} text=${token.name} /></td><td class="id">${token.id}</td><td>${token.role}</td><td><${Text} text=${token.namespaces.join(', ')} /></td><td><${Text} text=${token.queues.join(', ')} /></td>
      <td><${Time} at=${token.createdAt} /> by <${Text} text=${token.createdBy} /></td>
      <td>${token.endedAt ? html`${token.revokedBy ? 'revoked' : 'ended'} <${Time} at=${token.endedAt} />` : token.expiresAt ? html`<${Time} at=${token.expiresAt} />` : 'for ever'}</td>
      <td class="acts">${admin && !token.endedAt ? html`<${Act} label="Rotate" words=${`${token.name} gets a new secret. The one so far counts for 24 hours more.`} act=${() => at(token.id, 'rotate')} done=${made('The new secret')} />
        <${Act} label="Revoke" tone="danger" words=${`1 token: ${token.name} does not count any more, on every server within 5 s.`} act=${() => at(token.id, 'revoke')} done="Revoked." then=${ask.again} />` : null}</td></tr>`)}<//>`}<//><//>`;
}

const Secret = ({ secret, close }) => html`<p>Nobody can show it again.</p><pre class="payload" tabindex="0" aria-label="The secret">${secret}</pre><footer><${Copy} text=${secret} what="the secret" /><button type="button" class="primary" onClick=${close}>Close</button></footer>`;

function NewToken({ then, close }) {
  const [form, set] = useState({ name: '', role: 'viewer', namespaces: '*', queues: '*', expiresIn: '2160h' });
  const [problem, setProblem] = useState(null);
  const list = (text) => text.split(/[\s,]+/).filter(Boolean);
  const submit = async (event) => {
    event.preventDefault();
    try {
      const made = await post('v1/tokens', { name: form.name, role: form.role, namespaces: list(form.namespaces), queues: list(form.queues), ...(form.expiresIn ? { expiresIn: form.expiresIn } : {}) });
      close();
      toast(then(made));
    } catch (e) {
      setProblem(e);
    }
  };
  const field = (name, label) => html`<label>${label}<input value=${form[name]} onInput=${(e) => set({ ...form, [name]: e.currentTarget.value })} spellcheck="false" /></label>`;
  return html`<form onSubmit=${submit}>${field('name', 'Name')}
    <label>Role<select value=${form.role} onChange=${(e) => set({ ...form, role: e.currentTarget.value })}>${['viewer', 'submitter', 'operator', 'admin', 'worker'].map((each) => html`<option key=${each}>${each}</option>`)}</select></label>
    ${field('namespaces', 'Namespaces, * for all')}${field('queues', 'Queues, * for all')}${field('expiresIn', 'Counts for')}
    <${ProblemBox} problem=${problem} /><footer><button type="button" onClick=${close}>Leave it</button><button type="submit" class="primary">Make it</button></footer></form>`;
}

// ---- settings

/** One of a few, kept by the browser. */
export function Choice({ label, of, choices }) {
  const value = of.use();
  return html`<label class="choice"><span>${label}</span><select value=${value} onChange=${(e) => of.set(e.currentTarget.value)}>${choices.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>`;
}

export const STYLES = ['relative', 'local', 'utc'];
export const THEMES = ['system', 'light', 'dark'];

export function Settings({ namespace }) {
  const where = inNamespace(namespace, 'flow');
  const flow = useAsk(where, (signal) => get(where, signal));
  const mine = access.use();
  const data = flow.data;
  const paused = data?.paused;
  return html`<${Title} sub=${html`of <${Text} text=${namespace} /> and of this browser`}>Settings<//>
    <${Card} title="The namespace" more=${data ? html`${may(mine, 'operator') ? (paused
      ? html`<${Act} label="Resume" ask=${false} act=${() => post(where + '/resume', {})} done="Resumed." then=${flow.again} />`
      : html`<${Act} label="Pause" tone="danger" words=${`No attempt of the namespace ${namespace} starts until somebody resumes it. Those that run go on.`} reason act=${({ reason }) => post(where + '/pause', { reason })} done="Paused." then=${flow.again} />`) : null}
      ${may(mine, 'admin') ? html`<${Act} label="Limit…" title="Limit the namespace" verb="Set" words="So many attempts of the namespace run at once, on all nodes together. Nothing takes the limit back." input=${{ label: 'Attempts at once', value: String(data.limit ?? '') }} act=${({ text }) => (text.trim() ? put(where + '/limit', { limit: Number(text) }) : del(where + '/limit'))} done="The limit is set." then=${flow.again} />` : null}` : null}>
      <${Shown} ask=${flow}>${() => html`<${Facts} facts=${[
        ['State', paused ? html`<${State} state="PAUSED" /> ${data.reason ? html`<${Text} text=${data.reason} />` : ''}` : 'open'],
        ['Limit', data.limit ?? 'none'],
        ['Rate', data.rate ? `${data.rate.permits} each ${isoDuration(data.rate.period ?? 'PT1S')}` : 'none'],
        mine && ['You', html`<${Text} text=${mine.caller} />, ${mine.role} here, ${mine.everywhere ?? 'nothing'} everywhere`],
      ]} />`}<//><//>
    <${Card} title="This browser"><div class="bar"><${Choice} label="Times" of=${timeStyle} choices=${STYLES} /><${Choice} label="Colours" of=${theme} choices=${THEMES} /></div>
      <p class="faint small">Also in the palette. The server's own options are those of ./carillon serve --help; <a href=${new URL('openapi.yaml', base).pathname}>the API</a> says what programs can do.</p><//>`;
}
