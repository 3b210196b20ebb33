// What is wrong, why, and what to do about it: from facts alone, the worst first. No page code here.
import { duration, isoMillis, now, plural } from './format.js';

const CLOCK_MILLIS = 5_000;
const STALL_SECONDS = 45;
const ORDER = { bad: 0, warn: 1, info: 2 };

/** Text by users, so that right-to-left marks in it change nothing around it. */
const apart = (text) => '\u2068' + text + '\u2069';
const sentence = (text) => apart(text[0].toUpperCase() + text.slice(1).replace(/\.?$/, '.'));
const names = (all) => {
  const few = [...new Set(all)].map(apart);
  return few.slice(0, 3).join(', ') + (few.length > 3 ? ` and ${few.length - 3} more` : '');
};
const is = (all, one, many) => (all.length > 1 ? many : one);

/**
 * The findings.
 *
 * @param facts health, cluster, running, waiting and lately, each as the API has it or null where it is not known
 */
export function findings(facts) {
  const found = [];
  const say = (tone, name, title, advice, to) => found.push({ tone, name, title, advice, to });
  health(facts, say);
  members(facts, say);
  work(facts, say);
  return found.sort((a, b) => ORDER[a.tone] - ORDER[b.tone]);
}

function health({ health }, say) {
  if (!health) return;
  const { detail = '' } = health;
  const store = /^store|the store is away/.test(detail);
  const full = /no room|full|No space/.test(detail);
  if (!health.ready) {
    if (/read-?only/i.test(detail)) say('bad', 'read-only', `The store takes no changes: ${detail}.`, 'Give the process the right to write to the database again, or point it at the primary. It goes on by itself.');
    else if (full) say('bad', 'full', `The store has no room: ${detail}.`, 'Free space on the disk of the database. Nothing is lost, and it goes on by itself.');
    else say('bad', 'not-ready', store ? `The store is away: nothing is scheduled and nothing starts. ${detail}` : `This server is not ready: ${detail}.`, store ? 'Look at the database, its disk and the network to it. The node goes on by itself when it answers.' : 'If it does not pass within a minute, the log of the server says why.');
  } else if (/^ok, but/.test(detail)) {
    const [name, advice] = full ? ['full', 'Free space on the disk of the database. Nothing is lost, and it goes on by itself.'] : /nothing starts/.test(detail) ? ['held', 'The reason says what it waits for: a clock that is off, other nodes, or the store.'] : ['trouble', 'The log of the node has the cause. ./carillon verify looks at all shards.'];
    say('bad', name, `The node that answers is ${detail}.`, advice, { page: 'nodes' });
  }
  if (health.refusedShards > 0) say('bad', 'refused', `${plural(health.refusedShards, 'shard')} cannot be read by the node that answers.`, 'It is damaged or of a later version. The log names it; ./carillon verify looks at all of them.', { page: 'nodes' });
  if (health.problems > 0) say('info', 'problems', `${plural(health.problems, 'problem')} that no caller was told of.`, 'The log of the node has each cause once.');
}

function members({ cluster, running, waiting }, say) {
  if (cluster) {
    const of = (state) => cluster.members.filter((each) => each.state === state).map((each) => each.node);
    const there = cluster.members.filter((each) => each.state === 'THERE' || each.state === 'LEAVING');
    const takers = there.filter((each) => each.state === 'THERE');
    const dead = of('DEAD').filter((node) => !there.some((each) => each.node === node));
    if (dead.length) say('bad', 'node-dead', `${names(dead)} ${is(dead, 'is', 'are')} taken for dead. Others have taken over its shards.`, 'Look at its log and its machine. Start it again: it gets its shards back by itself.', { page: 'nodes' });
    const drained = of('DRAINING');
    if (drained.length) say('info', 'node-drained', `${names(drained)} ${is(drained, 'is', 'are')} drained and takes no shards, also after a restart.`, 'Undrain it when the work on it is over.', { page: 'nodes' });
    for (const each of cluster.members) {
      const off = each.state === 'GONE' || each.state === 'DEAD' ? 0 : isoMillis(each.clockOffset);
      if (Math.abs(off) >= CLOCK_MILLIS) say('bad', 'clock-off', `The clock of ${each.node} is ${duration(Math.abs(off))} ${off > 0 ? 'ahead of' : 'behind'} the store's.`, 'Set the clocks by NTP. Jobs never start early, so a clock that is behind makes them late; one that is ahead starts nothing until it is right.', { page: 'nodes' });
    }
    const formats = new Set(there.map((each) => each.format).filter(Boolean));
    if (formats.size > 1) say('warn', 'versions', `Nodes are of different versions: ${names(there.map((each) => `${each.node} reads format ${each.format}`))}.`, 'Restart the older ones with the newer version. When all are of one, ./carillon cluster upgrade --finish raises the format.', { page: 'nodes' });
    const free = cluster.slices.reduce((n, slice) => n + (Date.parse(slice.start) <= now() && slice.drained < slice.shards ? slice.free : 0), 0);
    if (free > 0) say(takers.length ? 'warn' : 'bad', 'unowned', `${plural(free, 'shard')} with due work ${free > 1 ? 'have' : 'has'} no owner.`, takers.length ? 'A node claims them within seconds. If it lasts, the log of the nodes says what they meet.' : `No node takes shards: ${names(drained)} ${is(drained, 'is', 'are')} drained. Undrain one, or start one.`, { page: 'nodes' });
    if (!cluster.complete) say('info', 'incomplete', 'Not all shards could be counted.', 'Some are damaged, or there are too many to count for a page. ./carillon verify reads all of them.', { page: 'nodes' });
  }
  const silent = [...new Set([...(running?.silent ?? []), ...(waiting?.silent ?? [])])];
  if (silent.length) say('bad', 'silent', `${names(silent)} gave no answer. What runs and waits there is not known.`, 'Is the process paused or its machine overloaded? It is taken for dead if it stays so.', { page: 'nodes' });
}

const ADVICE = {
  NO_HANDLER: ['no-handler', 'bad', 0, 'Start a program that handles the type, or look for a slip of the pen in its name.', 'jobs'],
  UNFIT: ['undecodable', 'bad', 0, 'Deploy a program that reads this version, or cancel the jobs.', 'jobs'],
  PAUSED: ['paused', 'warn', 0, 'Resume the job, the queue or the namespace when the reason for the pause is gone.', 'queues'],
  KEY: ['key', 'warn', 10, 'Look at the job that has the key: it runs for long, or hangs. Cancel it, or give its type a timeout.', 'job'],
  LIMIT: ['limited', 'warn', 60, 'Raise the limit of the queue, or add nodes where the limit is that of a handler.', 'queues'],
  RATE: ['rate', 'info', 60, 'Jobs come faster than their rate lets them start. Raise the rate, or let it be.', 'queues'],
  ALONE: ['alone', 'warn', 60, 'A job that runs alone holds up the others of its node.', 'running'],
  TRANSACTION: ['transaction', 'warn', 60, 'A transaction of a handler is open for long: look for it in the database.', 'job'],
  STORE: ['store', 'warn', 10, 'The store is slow. Look at the database and its disk.', 'job'],
  NODE: ['node', 'bad', 5, 'The node says why: its clock, the store, or that it may be taken for dead.', 'nodes'],
  SHARD: ['shard', 'bad', 5, 'Nodes shows who is there and which shards have no owner.', 'nodes'],
};

function work({ waiting, lately }, say) {
  const age = (rows) => rows.reduce((most, each) => Math.max(most, now() - Date.parse(each.oldestDue)), 0);
  const jobs = (rows) => rows.reduce((n, each) => n + each.jobs, 0);
  const of = (...reasons) => (waiting?.items ?? []).filter((each) => reasons.includes(each.reason));
  const stalled = lately && lately.seconds >= STALL_SECONDS && lately.ended === 0 && lately.alwaysRan && lately.ready > 0;
  if (stalled) say('bad', 'stalled', `Attempts run, due jobs wait, and nothing ended for ${duration(lately.seconds * 1_000)}.`, 'Handlers hang or are much slower than usual. Look at what runs longest; give its type a timeout.', { page: 'running' });
  for (const [reason, [name, tone, after, advice, page]] of Object.entries(ADVICE)) {
    const rows = of(reason);
    if (!rows.length || age(rows) < after * 1_000) continue;
    const told = rows.find((each) => each.why);
    const one = rows.reduce((a, b) => (b.oldestDue < a.oldestDue ? b : a));
    const to = page === 'job' ? { page: 'jobs', rest: [one.example] } : page === 'jobs' ? { page, query: { state: 'BLOCKED' } } : page === 'queues' ? { page, rest: new Set(rows.map((each) => each.queue)).size === 1 ? [one.queue] : [] } : { page };
    say(tone, name, `${plural(jobs(rows), 'due job')} of ${names(rows.map((each) => each.queue))} ${jobs(rows) === 1 ? 'waits' : 'wait'}, the oldest for ${duration(age(rows))}. ${told ? sentence(told.why.detail) : ''}`, told ? `What ends it: ${apart(told.why.ends.replace(/\.?$/, '.'))} ${advice}` : advice, { ...to, namespace: one.namespace });
  }
  const late = of('TURN', 'SLOT');
  if (!stalled && age(late) >= 10_000) say(age(late) >= 60_000 ? 'bad' : 'warn', 'late', `Due work waits: ${plural(jobs(late), 'job')}, the oldest ${duration(age(late))} late.`, 'More slots or nodes, faster handlers, or a higher limit of the queue. Queues show which one waits.', { page: 'queues' });
  if (lately?.dead > 0) say('warn', 'dead', `${plural(lately.dead, 'job')} became dead letters in the last ${duration(lately.seconds * 1_000)}.`, 'Dead letters are grouped by error: find the cause, then replay the group.', { page: 'dead-letters' });
}
