// The shell: navigation, who asks, how fresh everything is, and the page that the address names.
import { address, go, html, link, Toasts, Text } from './parts.js';
import { access, base, contact, del, get, inNamespace, post, session, useAsk } from './api.js';
import { clockOffset, duration, exact, now, timeStyle, useTick } from './format.js';
import { applyTheme, theme } from './charts.js';
import { Dialogs } from './dialogs.js';
import { follow, liveness } from './live.js';
import { keys, openPalette, PAGES } from './palette.js';
import { Overview, Running } from './overview.js';
import { Jobs } from './jobs.js';
import { JobPage } from './job.js';
import { SchedulePage, Schedules } from './schedules.js';
import { DeadLetters } from './dead.js';
import { QueuePage, Queues } from './queues.js';
import { Nodes } from './nodes.js';
import { TimeMap } from './map.js';
import { Lateness } from './heat.js';
import { Audit, Choice, Settings, STYLES, THEMES, Tokens } from './admin.js';
import { render, useEffect, useState } from './vendor-preact-htm.js';

const CLOCK_TO_TELL = 30_000;
const TOP = 9; // pages above, the others below

function Page({ where }) {
  const { namespace, page, rest, query } = where;
  const common = { namespace, search: query };
  switch (page) {
    case 'overview':
      return html`<${Overview} ...${common} />`;
    case 'running':
      return html`<${Running} ...${common} />`;
    case 'jobs':
      return rest.length ? html`<${JobPage} key=${rest[0]} ...${common} id=${rest[0]} />` : html`<${Jobs} ...${common} />`;
    case 'schedules':
      return rest.length ? html`<${SchedulePage} key=${rest[0]} ...${common} name=${rest[0]} />` : html`<${Schedules} ...${common} />`;
    case 'dead-letters':
      return html`<${DeadLetters} ...${common} />`;
    case 'queues':
      return rest.length ? html`<${QueuePage} key=${rest[0]} ...${common} name=${rest[0]} />` : html`<${Queues} ...${common} />`;
    case 'nodes':
      return html`<${Nodes} ...${common} />`;
    case 'map':
      return html`<${TimeMap} ...${common} />`;
    case 'lateness':
      return html`<${Lateness} ...${common} />`;
    case 'audit':
      return html`<${Audit} ...${common} />`;
    case 'tokens':
      return html`<${Tokens} ...${common} />`;
    case 'settings':
      return html`<${Settings} ...${common} />`;
    default:
      return html`<p class="empty">There is no such page. <a href=${link(namespace, 'overview')}>Overview</a></p>`;
  }
}

/** Live, asking, or since when nobody answers. */
function Freshness() {
  useTick();
  const { live, why } = liveness.use();
  const { at, problem } = contact.use();
  const silent = problem && now() - at > 2_000;
  const words = silent ? (at ? `no answer for ${duration(now() - at)}` : 'no answer yet') : live ? 'live' : 'every 5 s';
  return html`<span class=${'freshness ' + (silent ? 'bad' : live ? 'good' : 'calm')} role="status" title=${silent ? problem.message + (at ? ' Last answer: ' + exact(at) : '') : why}><i aria-hidden="true"></i>${words}</span>`;
}

function SignIn() {
  const [text, setText] = useState('');
  const [provider, setProvider] = useState(false);
  const { why } = session.use();
  useEffect(() => void get('v1/session').then((found) => setProvider(found.provider), () => {}), []);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await post('v1/session', { token: text.trim() });
      session.set({ needed: false, why: '' });
    } catch (e) {
      session.set({ needed: true, why: e.message });
    }
  };
  return html`<main class="signin" id="main"><form onSubmit=${submit}>
    <img src="icon.svg" alt="" width="48" height="48" /><h1>Carillon</h1>
    <p>This server asks who you are.${why ? html` <strong class="bad">${why}</strong>` : ''}</p>
    <label>Access token<input type="password" autocomplete="off" spellcheck="false" placeholder="crl_…" value=${text} onInput=${(e) => setText(e.currentTarget.value)} autofocus /></label>
    <button type="submit" class="primary">Sign in</button>
    ${provider ? html`<a class="button" href=${base.pathname + 'v1/login?to=' + encodeURIComponent(base.pathname + 'ui/')}>Sign in by your organisation</a>` : null}
    <p class="faint small">It counts for twelve hours in this browser. An administrator makes one with ./carillon token create.</p></form></main>`;
}

/** Both kinds of sessions: one is not there. */
async function signOut() {
  await Promise.allSettled([del('v1/session'), post('v1/logout', {})]);
  session.set({ needed: true, why: '' });
}

function Namespace({ where }) {
  const [text, setText] = useState(where.namespace);
  useEffect(() => setText(where.namespace), [where.namespace]);
  const submit = (event) => {
    event.preventDefault();
    if (text && text !== where.namespace) go(link(text, where.rest.length ? 'overview' : where.page));
    document.activeElement?.blur();
  };
  return html`<form class="namespace" onSubmit=${submit}><label><span>Namespace</span><input value=${text} maxlength="200" spellcheck="false" onInput=${(e) => setText(e.currentTarget.value)} onBlur=${() => setText(where.namespace)} /></label></form>`;
}

function Shell() {
  const [where, setWhere] = useState(address());
  const { needed } = session.use();
  const offset = clockOffset.use();
  const shown = theme.use();
  useEffect(() => applyTheme(shown), [shown]);
  useEffect(() => {
    const changed = () => {
      setWhere(address());
      window.scrollTo(0, 0);
    };
    window.addEventListener('hashchange', changed);
    const silent = keys(address);
    return () => {
      window.removeEventListener('hashchange', changed);
      silent();
    };
  }, []);
  const { namespace, page } = where;
  useEffect(() => {
    if (!needed) follow(namespace);
  }, [namespace, needed]);
  const mine = useAsk('access ' + namespace + ' ' + needed, (signal) => (needed ? Promise.resolve(null) : get(inNamespace(namespace, 'access'), signal)), 60_000);
  useEffect(() => access.set(mine.data ?? null), [mine.data]);
  useEffect(() => {
    const name = PAGES.find(([each]) => each === page)?.[1] ?? page;
    document.title = `${where.rest[0] ? where.rest[0].slice(-24) + ' · ' : ''}${name} · Carillon`;
  }, [where]);
  if (needed) return html`<${SignIn} />`;
  return html`<a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), document.getElementById('main').focus())}>To the content</a>
    <header class="top">
      <a class="brand" href=${link(namespace, 'overview')}><img src="icon.svg" alt="" width="26" height="26" />Carillon</a>
      <nav aria-label="Pages">${PAGES.slice(0, TOP).map(([each, name]) => html`<a key=${each} href=${link(namespace, each)} aria-current=${page === each ? 'page' : undefined}>${name}</a>`)}</nav>
      <${Namespace} where=${where} /><button type="button" class="search" onClick=${() => openPalette(namespace)} aria-label="Go to a page, job or queue" title="Ctrl K or /">⌕ <kbd>/</kbd></button><${Freshness} />
    </header>
    ${Math.abs(offset) > CLOCK_TO_TELL ? html`<div class="notice warn top-notice" role="status"><strong>Your clock is off</strong> by ${duration(Math.abs(offset))}. Times here go by the server's clock.</div>` : null}
    <main id="main" tabindex="-1"><${Page} where=${where} /></main>
    <footer class="bottom"><span>${mine.data ? html`<${Text} text=${mine.data.caller} /> · ${mine.data.role}` : ' '}</span>
      <nav aria-label="More pages">${PAGES.slice(TOP).map(([each, name]) => html`<a key=${each} href=${link(namespace, each)} aria-current=${page === each ? 'page' : undefined}>${name}</a>`)}</nav><${Choice} label="Times" of=${timeStyle} choices=${STYLES} /><${Choice} label="Colours" of=${theme} choices=${THEMES} />
      <a href=${new URL('openapi.yaml', base).pathname}>API</a>${mine.data && mine.data.caller !== 'local' ? html`<button type="button" class="small" onClick=${signOut}>Sign out</button>` : null}</footer>
    <${Toasts} /><${Dialogs} />`;
}

applyTheme(theme.get());
const root = document.getElementById('app');
root.replaceChildren();
render(html`<${Shell} />`, root);
