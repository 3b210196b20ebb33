// What is wrong, why, and what to do about it: from facts alone, the worst first. No page code here.
import { duration, isoMillis, now, plural } from './format.js';

const LATE_SECONDS = 10;
const CLOCK_MILLIS = 5_000;
const STALL_SECONDS = 45;
const ORDER = { bad: 0, warn: 1, info: 2 };

const seconds = (n) => duration(n * 1_000);
const most = (waits) => waits.reduce((a, b) => Math.max(a, b.oldest), 0);
const total = (waits) => waits.reduce((a, b) => a + b.jobs, 0);
const names = (waits, of) => {
  const all = [...new Set(waits.map((each) => each[of]).filter((each) => each && each !== 'others'))];
  return all.slice(0, 3).join(', ') + (all.length > 3 ? ` and ${all.length - 3} more` : '');
};

/**
 * The findings.
 *
 * @param facts health, cluster, running, figures and lately, each as the API has it or null where it is not known
 */
export function findings(facts) {
  const found = [];
  const say = (tone, name, title, advice, to) => found.push({ tone, name, title, advice, to });
  health(facts, say);
  members(facts, say);
  work(facts, say);
  store(facts, say);
  return found.sort((a, b) => ORDER[a.tone] - ORDER[b.tone]);
}

function health({ health }, say) {
  if (!health || health.ok) return;
  const away = health.detail === 'the store is away';
  say('bad', 'not-ready', away ? 'The store is away: nothing is scheduled and nothing starts.' : `This server is not ready: ${health.detail}.`, away ? 'Look at the database, its disk and the network to it. The node goes on by itself when it answers.' : 'If it does not pass within a minute, the log of the server says why.');
}

function members({ cluster, running }, say) {
  if (cluster) {
    const is = (state) => cluster.members.filter((each) => each.state === state).map((each) => each.node);
    if (is('DEAD').length) say('bad', 'node-dead', `${is('DEAD').join(', ')} ${is('DEAD').length > 1 ? 'are' : 'is'} taken for dead. Others have taken over its shards.`, 'Look at its log and its machine. Start it again: it gets its shards back by itself.', { page: 'nodes' });
    if (is('DRAINING').length) say('info', 'node-drained', `${is('DRAINING').join(', ')} ${is('DRAINING').length > 1 ? 'are' : 'is'} drained and takes no shards, also after a restart.`, 'Undrain it when the work on it is over.', { page: 'nodes' });
    const off = cluster.members.filter((each) => Math.abs(isoMillis(each.clockOffset)) >= CLOCK_MILLIS);
    for (const each of off) say('bad', 'clock-off', `The clock of ${each.node} is ${duration(Math.abs(isoMillis(each.clockOffset)))} ${isoMillis(each.clockOffset) > 0 ? 'ahead of' : 'behind'} the store's.`, 'Set the clocks by NTP. Jobs never start early, so a clock that is behind makes them late.', { page: 'nodes' });
    const free = cluster.slices.reduce((n, slice) => n + (Date.parse(slice.start) <= now() ? slice.free : 0), 0);
    if (free > 0) say('warn', 'unowned', `${plural(free, 'shard')} with due work ${free > 1 ? 'have' : 'has'} no owner.`, 'A node claims them within seconds. If it lasts: are there nodes that take shards, and is none of them drained?', { page: 'nodes' });
    if (!cluster.complete) say('info', 'incomplete', 'Not all shards could be counted.', 'Some are damaged, or there are too many to count for a page. ./carillon verify reads all of them.', { page: 'nodes' });
  }
  if (running?.silent.length) say('bad', 'silent', `${running.silent.join(', ')} gave no answer. What runs there is not known.`, 'Is the process paused or its machine overloaded? It is taken for dead if it stays so.', { page: 'nodes' });
}



function work({ figures, lately }, say) {
  if (!figures) return;
  const of = (reason) => figures.waiting.filter((each) => each.reason === reason);
  const none = of('no_handler');
  if (none.length) {
    say('bad', 'no-handler', `${plural(total(none), 'due job')} of ${names(none, 'type') || 'some types'} ${total(none) === 1 ? 'has' : 'have'} no handler. The oldest has waited for ${seconds(most(none))}.`, 'Start a program that handles the type, or look for a slip of the pen in its name.', { page: 'jobs', query: { state: 'BLOCKED', ...(none.length === 1 ? { type: none[0].type } : {}) }, namespace: none[0].namespace });
  }
  const unread = of('undecodable');
  const blocked = figures.plain.jobs_blocked ?? 0;
  if (blocked > 0 && !none.length && !unread.length) say('bad', 'blocked', `${plural(blocked, 'due job')} wait${blocked === 1 ? 's' : ''} for a handler that fits.`, 'The list of blocked jobs shows their types. Start a program that handles them.', { page: 'jobs', query: { state: 'BLOCKED' } });
  if (unread.length) say('bad', 'undecodable', `${plural(total(unread), 'due job')} of ${names(unread, 'type')} cannot be read by the handler that is there.`, 'Deploy a program that reads this version, or cancel the jobs.', { page: 'jobs', query: { state: 'BLOCKED' }, namespace: unread[0].namespace });
  const paused = of('paused');
  if (paused.length) say('warn', 'paused', `${plural(total(paused), 'due job')} of ${names(paused, 'queue')} wait${total(paused) === 1 ? 's' : ''} for a pause to end, the oldest for ${seconds(most(paused))}.`, 'Resume the job, the queue or the namespace when the reason for the pause is gone.', { page: 'queues', rest: new Set(paused.map((each) => each.queue)).size === 1 ? [paused[0].queue] : [] });
  const stalled = lately && lately.seconds >= STALL_SECONDS && lately.ended === 0 && lately.alwaysRan && lately.ready > 0;
  if (stalled) say('bad', 'stalled', `Attempts run, due jobs wait, and nothing ended for ${seconds(lately.seconds)}.`, 'Handlers hang or are much slower than usual. Look at what runs longest; give its type a timeout.', { page: 'running' });
  const slot = of('slot');
  if (!stalled && most(slot) >= LATE_SECONDS) say(most(slot) >= 60 ? 'bad' : 'warn', 'late', `Due work waits: ${plural(total(slot), 'job')}, the oldest ${seconds(most(slot))} late.`, 'More slots or nodes, faster handlers, or a higher limit of the queue. Queues show which one waits.', { page: 'queues' });
  const limit = of('limit');
  if (most(limit) >= 60) say('warn', 'limited', `${plural(total(limit), 'due job')} of ${names(limit, 'queue')} wait${total(limit) === 1 ? 's' : ''} for a limit or a concurrency key, the oldest for ${seconds(most(limit))}.`, "A job's page says which job has the key.", { page: 'queues' });
  if (lately?.dead > 0) say('warn', 'dead', `${plural(lately.dead, 'job')} became dead letters in the last ${seconds(lately.seconds)}.`, 'Dead letters are grouped by error: find the cause, then replay the group.', { page: 'dead-letters' });
}

function store({ figures, lately }, say) {
  if (!figures) return;
  const { plain } = figures;
  if (lately?.full > 0) say('bad', 'full', 'The store has no room for further changes.', 'Free space on the disk of the database. Nothing is lost; callers are refused until then.');
  if (plain.shards_refused > 0) say('bad', 'refused', `${plural(plain.shards_refused, 'shard')} cannot be read by this node.`, 'It is damaged or of a later version. The log names it; ./carillon verify looks at all of them.', { page: 'nodes' });
  if (plain.problems > 0) say('warn', 'problems', `${plural(plain.problems, 'problem')} that no caller was told of.`, 'The log of the node has each cause once.');
}
