// The palette: every page and every setting by keyboard. Ctrl-K or / opens it.
import { html, go, link } from './parts.js';
import { timeStyle } from './format.js';
import { theme } from './charts.js';
import { STYLES, THEMES } from './admin.js';
import { show } from './dialogs.js';
import { seen } from './jobs.js';
import { useState } from './vendor-preact-htm.js';

export const PAGES = [
  ['overview', 'Overview', 'o'],
  ['jobs', 'Jobs', 'j'],
  ['running', 'Running', 'r'],
  ['schedules', 'Schedules', 's'],
  ['dead-letters', 'Dead letters', 'd'],
  ['queues', 'Queues', 'q'],
  ['nodes', 'Nodes', 'n'],
  ['map', 'Time map', 'm'],
  ['lateness', 'Lateness', 'l'],
  ['audit', 'Audit', 'a'],
  ['tokens', 'Tokens', 't'],
  ['settings', 'Settings', 'e'],
];

function entries(text, namespace) {
  const all = [
    ...PAGES.map(([page, name, key]) => ({ name, hint: 'g ' + key, to: link(namespace, page) })),
    ...['DEAD', 'RUNNING', 'BLOCKED', 'PAUSED'].map((state) => ({ name: `Jobs that are ${state.toLowerCase()}`, to: link(namespace, 'jobs', [], { state }) })),
    ...[...seen.queues].slice(0, 50).map((queue) => ({ name: 'Queue ' + queue, to: link(namespace, 'queues', [queue]) })),
    ...STYLES.map((style) => ({ name: `Times: ${style}`, act: () => timeStyle.set(style) })),
    ...THEMES.map((name) => ({ name: `Colours: ${name}`, act: () => theme.set(name) })),
  ];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((each) => words.every((word) => each.name.toLowerCase().includes(word)));
  if (text.trim()) {
    const exact = text.trim();
    found.push({ name: `Job ${exact}`, hint: 'by id', to: link(namespace, 'jobs', [exact]) }, { name: `Namespace ${exact}`, to: link(exact, 'overview') }, { name: `Queue ${exact}`, to: link(namespace, 'queues', [exact]) });
  }
  return found.slice(0, 12);
}

function Palette({ namespace, close }) {
  const [text, setText] = useState('');
  const [chosen, choose] = useState(0);
  const list = entries(text, namespace);
  const take = (entry) => {
    close();
    if (entry.act) entry.act();
    else go(entry.to);
  };
  const key = (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      choose((n) => (n + (event.key === 'ArrowDown' ? 1 : list.length - 1)) % list.length);
    } else if (event.key === 'Enter' && list[chosen]) {
      event.preventDefault();
      take(list[chosen]);
    }
  };
  return html`<div class="palette"><input autofocus role="combobox" aria-label="Where to" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${'palette-' + chosen} placeholder="a page, a job's id, a queue, a namespace" value=${text} autocomplete="off" spellcheck="false" onInput=${(e) => (setText(e.currentTarget.value), choose(0))} onKeyDown=${key} />
    <ul id="palette-list" role="listbox" aria-label="Places">${list.map((each, i) => html`<li key=${each.name} id=${'palette-' + i} role="option" aria-selected=${i === chosen} onMouseDown=${(e) => (e.preventDefault(), take(each))}><bdi>${each.name}</bdi>${each.hint ? html`<kbd>${each.hint}</kbd>` : null}</li>`)}</ul></div>`;
}

function Keys() {
  return html`<table class="keys"><tbody>${[['Ctrl K or /', 'go anywhere'], ...PAGES.map(([, name, key]) => ['g ' + key, name]), ['?', 'these keys'], ['Esc', 'close']].map(([key, what]) => html`<tr key=${key}><th scope="row"><kbd>${key}</kbd></th><td>${what}</td></tr>`)}</tbody></table>`;
}

export const openPalette = (namespace) => show('Go to', Palette, { namespace });

/** Listens for keys; gives back how to stop. */
export function keys(current) {
  let g = 0;
  const listener = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openPalette(current().namespace);
      return;
    }
    const typing = event.target.closest?.('input, textarea, select, dialog, [contenteditable]');
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') {
      event.preventDefault();
      openPalette(current().namespace);
    } else if (event.key === '?') {
      show('Keys', Keys);
    } else if (event.key === 'g') {
      g = Date.now();
    } else if (Date.now() - g < 1_500) {
      const page = PAGES.find(([, , key]) => key === event.key);
      g = 0;
      if (page) go(link(current().namespace, page[0]));
    }
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}
