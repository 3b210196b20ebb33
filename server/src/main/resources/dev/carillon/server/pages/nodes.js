// Nodes: who is there, what runs where, whose shards; drain and undrain.
import { html, Card, link, Shown, Silent, State, Table, Text, Title } from './parts.js';
import { access, get, may, path, post, useAsk } from './api.js';
import { count, duration, isoMillis, plural } from './format.js';
import { Act } from './dialogs.js';

export function Nodes({ namespace }) {
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
  return html`<${Title} sub=${html`As the node sees them that answers. <a href=${link(namespace, 'map')}>All shards by time</a>`}>Nodes<//>
    <${Silent} ask=${running} />
    <${Card}><${Shown} ask=${ask}>${(cluster) => html`<${Table} label="Nodes" head=${['Node', 'State', 'Running', 'Shards', 'Made', 'Stands in for', 'Clock', 'Format', '']}>
      ${cluster.members.map((each) => html`<tr key=${each.node + each.incarnation}><td><${Text} text=${each.node} />${each.node === cluster.asked ? html` <span class="faint">answers</span>` : null}</td><td><${State} state=${each.state} /></td>
        <td class="n">${runs(each.node)}</td><td class="n">${count(each.owned)}</td><td class="n">${count(each.home)}</td><td>${each.standsIn ? plural(each.standsIn, 'shard') : html`<span class="faint">–</span>`}</td>
        <td>${each.clockOffset ? html`<span class=${Math.abs(isoMillis(each.clockOffset)) > 5_000 ? 'bad' : ''}>${duration(isoMillis(each.clockOffset))}</span>` : html`<span class="faint">the store's</span>`}</td>
        <td class="n">${each.format || html`<span class="faint">–</span>`}</td>
        <td class="acts">${!admin || cluster.members.length < 2 && each.state === 'THERE' ? null : each.state === 'DRAINING'
          ? html`<${Act} label="Undrain" ask=${false} act=${() => order(each.node, 'undrain')} done="Its shards return to it." then=${ask.again} />`
          : html`<${Act} label="Drain" tone="danger" words=${`1 node: ${each.node} hands its ${plural(each.owned, 'shard')} to others and takes none until it is undrained, also after a restart.`} act=${() => order(each.node, 'drain')} done="It is being drained." then=${ask.again} />`}</td></tr>`)}<//>`}<//><//>`;
}
