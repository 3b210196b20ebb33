// Shards on an axis of time, by node: what is due when, who has it, loaded or asleep, on its way.
import { html, Card, Empty, link, Shown, Silent, Table, Text, Time, Title } from './parts.js';
import { get, useAsk } from './api.js';
import { count, duration, exact, isoMillis, now, plural, useTick } from './format.js';

const DAY = 86_400_000;
const PAST = 0.2; // of the width
const TICKS = [[-7 * DAY, '−7 d'], [-DAY, '−1 d'], [-3_600_000, '−1 h'], [0, 'now'], [3_600_000, '1 h'], [DAY, '1 d'], [7 * DAY, '7 d'], [30 * DAY, '30 d'], [365 * DAY, '1 y']];

/** Near times are wide, far ones narrow: percent of the width. */
function place(millis) {
  const log = (away, most) => Math.min(1, Math.log1p(away / 600_000) / Math.log1p(most / 600_000));
  return 100 * (millis < 0 ? PAST - PAST * log(-millis, 30 * DAY) : PAST + (1 - PAST) * log(millis, 730 * DAY));
}

export function TimeMap({ namespace }) {
  useTick(5_000);
  const ask = useAsk('map', (signal) => get('v1/cluster/map', signal), 2_000);
  const cluster = useAsk('cluster', (signal) => get('v1/cluster', signal), 10_000);
  return html`<${Title} sub="All shards by the time of their jobs, and the nodes that have them. Live.">Time map<//>
    <${Silent} ask=${ask} />
    <${Card}><${Shown} ask=${ask}>${(map) => html`<${Lanes} map=${map} cluster=${cluster.data} namespace=${namespace} />`}<//><//>
    <${Card} title="Shards by time" more=${cluster.data && !cluster.data.complete ? html`<span class="warn">not complete</span>` : null}><${Shown} ask=${cluster}>${(data) => html`<${Slices} slices=${data.slices} />`}<//><//>`;
}

function Lanes({ map, cluster, namespace }) {
  const nodes = map.nodes.concat((cluster?.members ?? []).filter((each) => each.state !== 'GONE').map((each) => each.node));
  const free = (cluster?.slices ?? []).filter((each) => each.free > 0).map((each) => ({ ...each, shards: each.free, loaded: 0, coming: 0, going: 0, jobs: each.pending, unowned: true }));
  const lanes = [...new Set(nodes)].map((node) => [node, map.items.filter((each) => each.node === node)]);
  if (!map.items.length && !free.length) return html`<${Empty}>There are no shards yet.<//>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Time map"><div class="map">
    <div class="ticks" aria-hidden="true">${TICKS.map(([at, name]) => html`<span key=${name} style=${{ left: place(at) + '%' }}>${name}</span>`)}</div>
    ${lanes.map(([node, rows]) => html`<${Lane} key=${node} name=${html`<${Text} text=${node} />`} note=${heirs(cluster, node)} rows=${rows} namespace=${namespace} />`)}
    ${free.length ? html`<${Lane} key=" free" name="nobody" note="a node claims them before they are due" rows=${free} namespace=${namespace} />` : null}
  </div></div>
  <p class="legend faint small"><i class="lit"></i> loaded <i></i> asleep <i class="coming"></i> being made or claimed <i class="going"></i> handed over <i class="idle"></i> nobody's yet <i class="free"></i> due and nobody's</p>`;
}

/** Who would have them if the node went. */
function heirs(cluster, node) {
  const all = (cluster?.members ?? []).filter((each) => each.standInOf[node]).map((each) => `${each.node} ${Math.round((100 * each.standInOf[node]) / 128)} %`);
  return all.length ? 'would go to ' + all.slice(0, 4).join(', ') : '';
}

function Lane({ name, note, rows, namespace }) {
  const shards = rows.reduce((n, each) => n + each.shards, 0);
  return html`<div class="lane"><div class="who">${name}<small class="faint">${plural(shards, 'shard')}${note ? html`, <bdi>${note}</bdi>` : ''}</small></div>
    <div class="axis">${rows.map((row) => {
      const start = Date.parse(row.start);
      const width = isoMillis(row.width);
      const left = place(start - now());
      const kind = row.unowned ? (start <= now() ? 'free' : 'idle') : row.going ? 'going' : row.coming ? 'coming' : row.loaded ? 'lit' : '';
      const words = `${exact(start)} for ${duration(width)}: ${plural(row.shards, 'shard')}, ${row.unowned ? 'without owner' : count(row.loaded) + ' loaded'}${row.coming ? `, ${count(row.coming)} on the way here` : ''}${row.going ? `, ${count(row.going)} on the way out` : ''}, ${plural(row.jobs, 'job')}`;
      return html`<a key=${row.start + row.width} class=${kind} style=${{ left: left + '%', width: Math.max(0.4, place(start + width - now()) - left) + '%' }} title=${words} aria-label=${words} href=${link(namespace, 'jobs', [], { dueFrom: new Date(start).toISOString(), dueTo: new Date(start + width).toISOString() })}></a>`;
    })}</div></div>`;
}

function Slices({ slices }) {
  if (!slices.length) return html`<${Empty}>There are no shards yet.<//>`;
  const most = Math.max(1, ...slices.map((each) => each.pending));
  return html`<${Table} label="Shards by time" head=${['Due from', 'For', 'Jobs', '', 'Shards', 'Without owner']}>${slices.slice(0, 200).map((each) => html`<tr key=${each.start + each.width}>
    <td><${Time} at=${each.start} /></td><td class="faint">${duration(isoMillis(each.width))}</td><td class="n">${each.uncounted ? '≥ ' : ''}${count(each.pending)}</td>
    <td class="wide"><span class="meter"><i class=${each.free ? 'warn' : 'accent'} style=${{ width: (100 * each.pending) / most + '%' }}></i></span></td>
    <td class="n">${count(each.shards)}</td><td class=${'n ' + (each.free ? 'warn' : 'faint')}>${count(each.free)}</td></tr>`)}<//>
    <p class="faint small">≥ : some owners may have more jobs than they wrote down. Nothing is counted to draw this page.</p>`;
}
