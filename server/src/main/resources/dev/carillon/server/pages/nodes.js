// Nodes: who is there, what runs where, whose shards; drain and undrain. Below, all shards by time.
import { html, Card, Empty, Shown, State, Table, Text, Time, Title } from './parts.js';
import { access, get, may, path, post, useAsk } from './api.js';
import { count, duration, isoMillis, plural } from './format.js';
import { Act } from './dialogs.js';

export function Nodes() {
  const ask = useAsk('cluster', (signal) => get('v1/cluster', signal));
  const running = useAsk('running-all', (signal) => get('v1/cluster/running?limit=1', signal));
  const admin = may(access.use(), 'admin', true);
  const runs = (node) => {
    if (!running.data || running.problem) return html`<span class="faint">not known</span>`;
    if (running.data.silent.includes(node)) return html`<span class="warn">no answer</span>`;
    const found = running.data.nodes.find((each) => each.node === node);
    return found ? count(found.running) : html`<span class="faint">–</span>`;
  };
  const order = (node, verb) => post(path('v1', 'cluster', 'members', node, verb), {});
  return html`<${Title} sub="As the node sees them that answers.">Nodes<//>
    <${Card}><${Shown} ask=${ask}>${(cluster) => html`<${Table} label="Nodes" head=${['Node', 'State', 'Running', 'Shards', 'Made', 'Stands in for', 'Clock', '']}>
      ${cluster.members.map((each) => html`<tr key=${each.node + each.incarnation}><td><${Text} text=${each.node} />${each.node === cluster.asked ? html` <span class="faint">answers</span>` : null}</td><td><${State} state=${each.state} /></td>
        <td class="n">${runs(each.node)}</td><td class="n">${count(each.owned)}</td><td class="n">${count(each.home)}</td><td>${each.standsIn ? plural(each.standsIn, 'shard') : html`<span class="faint">–</span>`}</td>
        <td>${each.clockOffset ? html`<span class=${Math.abs(isoMillis(each.clockOffset)) > 5_000 ? 'bad' : ''}>${duration(isoMillis(each.clockOffset))}</span>` : html`<span class="faint">the store's</span>`}</td>
        <td class="acts">${!admin || cluster.members.length < 2 && each.state === 'THERE' ? null : each.state === 'DRAINING'
          ? html`<${Act} label="Undrain" ask=${false} act=${() => order(each.node, 'undrain')} done="Its shards return to it." then=${ask.again} />`
          : html`<${Act} label="Drain" tone="danger" words=${`1 node: ${each.node} hands its ${plural(each.owned, 'shard')} to others and takes none until it is undrained, also after a restart.`} act=${() => order(each.node, 'drain')} done="It is being drained." then=${ask.again} />`}</td></tr>`)}<//>`}<//><//>
    <${Card} title="Shards by time" more=${ask.data && !ask.data.complete ? html`<span class="warn">not complete</span>` : null}><${Shown} ask=${ask}>${(cluster) => html`<${Slices} slices=${cluster.slices} />`}<//><//>`;
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
