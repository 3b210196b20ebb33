package dev.carillon.simulator;

/** What the checker holds the engine to; the promises of the guarantees table, one by one. */
enum Guarantee {
  NOT_LOST("an acknowledged job ends in a way its owner may expect"),
  NEVER_EARLY("no attempt starts before its due time by the wall clock"),
  NOT_STUCK("a due job starts within a bound after the last fault"),
  AT_LEAST_ONCE("a job succeeds only after its handler did"),
  BOUNDED_REPEATS("without crash, timeout or retry there is one attempt"),
  ONE_OUTCOME("one outcome counts, that of the current attempt"),
  ONE_WRITER("after a claim no older epoch writes"),
  WENT_BACK("an older copy of the store is noticed, said and gone by, and nothing else is"),
  MEMBERS("a node takes what is nobody's, and starts nothing once others may take it for dead"),
  SPREAD("who is away is stood in for evenly and as shown, and what is at home stays there"),
  ACKNOWLEDGED_IS_DURABLE("what was acknowledged is in the journal"),
  UNKNOWN_IS_SAID("what was refused never appears, nothing appears twice"),
  ATOMIC_BATCH("a batch is all or nothing"),
  NAMES("a name has one live job and is free afterwards"),
  CANCEL("a cancel's answer is true"),
  WAKE_TIME("a shard wakes no later than its earliest job"),
  FOLD("the node's state is the fold of the journal"),
  RECURRENCES("each time of a schedule takes place once, or is passed over as its rules say"),
  RETRIES("a retry keeps its virtual time"),
  CONTROL("a change's answer is true, and what is paused does not start"),
  DEPENDENCIES("a job starts after all it waits for have ended as they must, or never"),
  REPLAY("what a workflow's code sees is in its journal, and it sees the same again"),
  STEPS_ONCE("a step whose result is recorded never runs again"),
  SIGNALS("a signal is taken once, in order, and none is lost"),
  COMPENSATIONS("what was done is undone, the last first, before the workflow ends"),
  DIVERGENCE("code that does not fit its history is reported at its call, and no other is"),
  POISON("only a crash during an attempt alone convicts"),
  HISTORY("the journal tells what happened"),
  LEASES("an attempt that a worker runs by its lease is not made again, and what is lost counts"),
  LIMITS("no limit of concurrency is exceeded"),
  DEADLINE("no attempt starts after its job's deadline"),
  RETENTION("nothing is dropped before its time"),
  CLOCK("no attempt starts by a clock that is too far from the store's"),
  NO_ERROR("the engine neither throws nor reports");

  private final String text;

  Guarantee(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }
}
