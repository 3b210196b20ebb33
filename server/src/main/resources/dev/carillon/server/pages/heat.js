// How late attempts started, by queue and time. A cell leads to the jobs that it counts.
import { html, Card, Empty, go, link, Shown, Silent, Title } from './parts.js';
import { useAsk } from './api.js';
import { clockTime, exact, isoMillis, kept, plural } from './format.js';
import { Ranges } from './overview.js';
import { readLateness } from './figures.js';

const range = kept('heat', 'PT2H');
const ROWS = ['1 ms', '10 ms', '100 ms', '1 s', '10 s', '100 s', '17 min', 'longer'];
const LATE = 5;
const ALL = 'all queues';

/** Cells by row and column: three buckets of the API are one row. */
function cellsOf(data, queue) {
  const cells = new Map();
  for (const each of data.queues) {
    if (queue && each.queue !== queue) continue;
    for (let i = 0; i < each.cells.length; i += 3) {
      const row = Math.min(ROWS.length - 1, Math.max(0, Math.ceil((each.cells[i + 1] - 3) / 3)));
      const key = row + ' ' + each.cells[i];
      cells.set(key, (cells.get(key) ?? 0) + each.cells[i + 2]);
    }
  }
  return cells;
}

/** The arrow keys go from cell to cell. */
function move(event) {
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const cell = event.target.closest('td');
  if (!by || !cell) return;
  event.preventDefault();
  let { parentElement: row, cellIndex: at } = cell;
  for (let i = 0; i < 99 && row; i++) {
    if (by[0]) row = by[0] < 0 ? row.previousElementSibling : row.nextElementSibling;
    at += by[1];
    const found = row?.cells[at]?.querySelector('a');
    if (found) return found.focus();
    if (row && !row.cells[at]) return;
  }
}

export function Lateness({ namespace, search }) {
  const shown = range.use();
  const queue = search.get('queue') ?? '';
  const ask = useAsk('lateness ' + shown, readLateness(shown), 10_000);
  const names = [...new Set([queue, ...(ask.data?.queues ?? []).map((each) => each.queue)])].filter(Boolean);
  const pick = (event) => go(link(namespace, 'lateness', [], event.currentTarget.value === ALL ? null : { queue: event.currentTarget.value }));
  return html`<${Title} sub="From due to started, of every attempt on all nodes. A cell leads to its jobs.">Lateness<//>
    <div class="bar"><${Ranges} of=${range} /><label class="choice"><span>Queue</span><select value=${queue || ALL} onChange=${pick}>${[ALL, ...names].map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label></div>
    <${Silent} ask=${ask} />
    <${Card}><${Shown} ask=${ask}>${(data) => html`<${Heat} data=${data} queue=${queue} namespace=${namespace} />`}<//><//>`;
}

function Heat({ data, queue, namespace }) {
  const cells = cellsOf(data, queue);
  if (!cells.size) return html`<${Empty}>Nothing started in this time, as far as the nodes that answered remember.<//>`;
  const step = isoMillis(data.step) / 1_000;
  const last = Math.max(...[...cells.keys()].map((key) => +key.split(' ')[1]));
  const length = isoMillis(data.range) / 1_000 / step + 1;
  const columns = Array.from({ length }, (_, i) => last + (i + 1 - length) * step);
  const most = Math.max(...cells.values());
  let stop = 0;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Lateness by time"><table class="heat" onKeyDown=${move}>
    <thead><tr><th scope="col">up to</th>${columns.map((each, i) => html`<th scope="col" key=${each}>${i % 10 ? '' : clockTime(each * 1_000)}</th>`)}</tr></thead>
    <tbody>${ROWS.map((name, row) => html`<tr key=${name}><th scope="row">${name}</th>${columns.map((each) => {
      const n = cells.get(row + ' ' + each);
      if (!n) return html`<td key=${each}></td>`;
      const words = `${plural(n, 'start')} ${row === ROWS.length - 1 ? 'later than ' + ROWS[row - 1] : 'up to ' + name + ' late'}, ${exact(each * 1_000)}`;
      return html`<td key=${each}><a class=${row >= LATE ? 'bad' : row === LATE - 1 ? 'warn' : 'accent'} tabindex=${stop++ ? -1 : 0} style=${{ opacity: 0.25 + (0.75 * Math.log(n + 1)) / Math.log(most + 1) }} href=${link(namespace, 'jobs', [], jobs(each, step, row, queue))} title=${words} aria-label=${words}></a></td>`;
    })}</tr>`)}</tbody></table></div>
    <p class="faint small">The stronger the colour, the more attempts. Tab goes in, the arrow keys go from cell to cell.</p>`;
}

/** Those that were due so long before. */
function jobs(at, step, row, queue) {
  const iso = (millis) => new Date(millis).toISOString();
  const longest = row === ROWS.length - 1 ? 86_400_000 : 10 ** row;
  const shortest = row ? 10 ** (row - 1) : 0;
  return { ...(queue && queue !== 'others' ? { queue } : {}), dueFrom: iso(at * 1_000 - longest), dueTo: iso((at + step) * 1_000 - shortest + 1) };
}
