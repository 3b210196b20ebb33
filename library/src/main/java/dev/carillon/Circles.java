package dev.carillon;

import dev.carillon.api.Job;
import dev.carillon.api.error.InvalidJobException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds jobs of a batch that wait for each other in a circle: none of them could ever start. */
final class Circles {
  private final List<? extends Job<?>> jobs;
  private final Map<Integer, List<Integer>> after = new HashMap<>();

  Circles(List<? extends Job<?>> jobs) {
    this.jobs = jobs;
  }

  void add(int job, int waitsFor) {
    after.computeIfAbsent(job, each -> new ArrayList<>()).add(waitsFor);
  }

  /**
   * Refuses the batch if there is one.
   *
   * @throws InvalidJobException with the names of the circle
   */
  void refuse() {
    int[] waitsFor = new int[jobs.size()];
    Map<Integer, List<Integer>> waiters = new HashMap<>();
    after.forEach(
        (job, others) -> {
          waitsFor[job] = others.size();
          others.forEach(
              other -> waiters.computeIfAbsent(other, each -> new ArrayList<>()).add(job));
        });
    List<Integer> free = new ArrayList<>();
    for (int i = 0; i < waitsFor.length; i++) {
      if (waitsFor[i] == 0) {
        free.add(i);
      }
    }
    for (int next = 0; next < free.size(); next++) {
      for (int waiter : waiters.getOrDefault(free.get(next), List.of())) {
        if (--waitsFor[waiter] == 0) {
          free.add(waiter);
        }
      }
    }
    if (free.size() < waitsFor.length) {
      throw new InvalidJobException("dependencies: " + circle(waitsFor) + " (expected: no circle)");
    }
  }

  /** Who is left waits for one who is left: following them leads into the circle. */
  private String circle(int[] waitsFor) {
    int at = 0;
    while (waitsFor[at] == 0) {
      at++;
    }
    List<Integer> path = new ArrayList<>();
    while (!path.contains(at)) {
      path.add(at);
      at =
          after.getOrDefault(at, List.of()).stream()
              .filter(other -> waitsFor[other] > 0)
              .findFirst()
              .orElseThrow();
    }
    List<Integer> round = path.subList(path.indexOf(at), path.size());
    StringBuilder text = new StringBuilder();
    round.forEach(job -> text.append(jobs.get(job).name()).append(" after "));
    return text.append(jobs.get(at).name()).toString();
  }
}
