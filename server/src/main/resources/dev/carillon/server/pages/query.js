// The query bar: words such as state=DEAD queue=mail meta.customer="a b", kept in the address.
import { html } from './parts.js';
import { states } from './format.js';
import { useEffect, useRef, useState } from './vendor-preact-htm.js';

export const KEYS = ['state', 'type', 'queue', 'namePrefix', 'dueFrom', 'dueTo', 'endedFrom', 'endedTo', 'occurrencesOf', 'newest'];
const MANY = new Set(['state']);
const isKey = (name) => KEYS.includes(name) || /^meta\../.test(name);

const quoted = (value) => (/^[^\s"]+$/.test(value) ? value : '"' + value.replace(/["\\]/g, '\\$&') + '"');

/** The words of a query. */
export const write = (parameters) => parameters.map(([name, value]) => `${name}=${quoted(value)}`).join(' ');

/** The parameters of a text; throws what is wrong with it in words. */
export function read(text) {
  const found = [];
  const word = /\s*(?:([A-Za-z]+(?:\.[^\s="]+)?)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))|(\S+))/y;
  while (word.lastIndex < text.length) {
    if (!text.slice(word.lastIndex).trim()) break;
    const match = word.exec(text);
    if (!match) throw new Error('a quote has no end');
    const [, name, inQuotes, plain, other] = match;
    if (other !== undefined) throw new Error(`${other} (expected: name=value, such as state=DEAD)`);
    if (!isKey(name)) throw new Error(`${name} (expected: one of ${KEYS.join(', ')}, meta.KEY)`);
    const value = inQuotes !== undefined ? inQuotes.replace(/\\(.)/g, '$1') : plain;
    if (name === 'state') {
      for (const each of value.split(',').filter(Boolean)) {
        if (!states.includes(each.toUpperCase())) throw new Error(`state=${each} (expected: one of ${states.join(', ')})`);
        found.push([name, each.toUpperCase()]);
      }
    } else if (!MANY.has(name) && found.some(([n]) => n === name)) {
      throw new Error(`${name} twice`);
    } else if (value !== '') {
      found.push([name, name === 'newest' ? 'true' : value]);
    }
  }
  return found;
}

/** Of the address, what is a query and not the place in it. */
export const of = (search) => [...search].filter(([name]) => isKey(name));

/** As a bulk action wants it. */
export function body(parameters) {
  const all = {};
  for (const [name, value] of parameters) {
    if (name === 'newest') continue;
    if (name === 'state') (all.state ??= []).push(value);
    else if (name.startsWith('meta.')) (all.meta ??= {})[name.slice(5)] = value;
    else all[name] = value;
  }
  return all;
}

function completions(text, seen) {
  const word = /(\S*)$/.exec(text)[1];
  const equals = word.indexOf('=');
  if (equals < 0) return KEYS.filter((key) => key.startsWith(word)).map((key) => (key === 'newest' ? 'newest=true' : key + '='));
  const name = word.slice(0, equals);
  const begun = word.slice(equals + 1).toLowerCase();
  const values = name === 'state' ? states : name === 'type' ? seen.types : name === 'queue' ? seen.queues : [];
  return [...values].filter((value) => value.toLowerCase().startsWith(begun) && value.toLowerCase() !== begun).slice(0, 12).map((value) => name + '=' + quoted(value));
}

/** A field with completion; Enter asks, Escape closes the list. */
export function QueryBar({ parameters, seen, onQuery }) {
  const [text, setText] = useState(write(parameters));
  const [problem, setProblem] = useState(null);
  const [open, setOpen] = useState(false);
  const [chosen, choose] = useState(-1);
  const field = useRef(null);
  const shown = write(parameters);
  useEffect(() => setText(shown), [shown]);
  const list = open ? completions(text, seen) : [];
  const submit = (event) => {
    event?.preventDefault();
    setOpen(false);
    try {
      onQuery(read(text));
      setProblem(null);
    } catch (e) {
      setProblem(e.message);
    }
  };
  const take = (completion) => {
    const next = text.replace(/\S*$/, completion) + (completion.endsWith('=') ? '' : ' ');
    setText(next);
    choose(-1);
    setOpen(completion.endsWith('='));
    field.current.focus();
  };
  const key = (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const length = completions(text, seen).length;
      if (length) choose((n) => (event.key === 'ArrowDown' ? (n + 1) % length : (n <= 0 ? length : n) - 1));
    } else if (event.key === 'Escape' && open) {
      event.stopPropagation();
      setOpen(false);
    } else if ((event.key === 'Enter' || event.key === 'Tab') && chosen >= 0 && list[chosen]) {
      event.preventDefault();
      take(list[chosen]);
    }
  };
  return html`<form class="query" role="search" onSubmit=${submit}>
    <input ref=${field} id="query" value=${text} placeholder="state=DEAD queue=mail meta.customer=42" aria-label="Query" role="combobox" aria-autocomplete="list"
      aria-expanded=${list.length > 0} aria-controls="completions" aria-activedescendant=${chosen >= 0 ? 'completion-' + chosen : undefined} autocomplete="off" spellcheck="false"
      onInput=${(e) => (setText(e.currentTarget.value), setOpen(true), choose(-1))} onKeyDown=${key} onFocus=${() => setOpen(true)} onBlur=${() => setTimeout(() => setOpen(false), 150)} />
    <button type="submit" class="primary">Ask</button>
    <ul id="completions" role="listbox" aria-label="Completions" hidden=${list.length === 0}>${list.map((each, i) => html`<li key=${each} id=${'completion-' + i} role="option" aria-selected=${i === chosen} onMouseDown=${(e) => (e.preventDefault(), take(each))}><bdi>${each}</bdi></li>`)}</ul>
    ${problem ? html`<p class="bad" role="alert"><bdi>${problem}</bdi></p>` : null}
  </form>`;
}
