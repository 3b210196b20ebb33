package dev.carillon;

import dev.carillon.api.JobMeter;
import dev.carillon.api.Metrics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Adds up what a node counts, for whoever asks later, and passes it on. Any thread. */
final class Tally implements Metrics {
  /** How many types, queues and namespaces together are told apart; the others are one. */
  private static final int MOST_JOB_TALLIES = 1_024;

  private final Metrics next;
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final Map<String, Times> times = new ConcurrentHashMap<>();

  private final Map<JobTally.Tags, JobTally> jobs = new ConcurrentHashMap<>();

  private record Times(LongAdder count, LongAdder nanos) {}

  Tally(Metrics next) {
    this.next = next;
  }

  @Override
  public void count(String name, long delta) {
    counts.computeIfAbsent(name, n -> new LongAdder()).add(delta);
    next.count(name, delta);
  }

  @Override
  public void time(String name, long nanos) {
    Times of = times.computeIfAbsent(name, n -> new Times(new LongAdder(), new LongAdder()));
    of.count().increment();
    of.nanos().add(nanos);
    next.time(name, nanos);
  }

  @Override
  public void gauge(String name, long value) {
    next.gauge(name, value);
  }

  @Override
  public JobMeter jobs(String type, String queue, String namespace) {
    JobTally.Tags tags = new JobTally.Tags(type, queue, namespace);
    boolean known = jobs.containsKey(tags) || jobs.size() < MOST_JOB_TALLIES;
    return jobs.computeIfAbsent(
        known ? tags : new JobTally.Tags(OTHERS, OTHERS, OTHERS),
        of -> new JobTally(of, next.jobs(of.type(), of.queue(), of.namespace())));
  }

  List<JobFigures> jobFigures() {
    return jobs.values().stream().map(JobTally::figures).toList();
  }

  CarillonFigures figures() {
    Map<String, Long> counted = new HashMap<>();
    counts.forEach((name, count) -> counted.put(name, count.sum()));
    Map<String, CarillonFigures.Time> measured = new HashMap<>();
    times.forEach(
        (name, of) ->
            measured.put(name, new CarillonFigures.Time(of.count().sum(), of.nanos().sum())));
    return new CarillonFigures(counted, measured);
  }
}
