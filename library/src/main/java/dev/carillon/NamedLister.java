package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.life.LivePhases;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.query.NamedJobs;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists jobs of a namespace that have a name and have not ended, by their names: the records of
 * names say where such jobs are, so that no other job is read, however many there are. A record
 * only points; whether the job is there, lives and has the name its shard says. What this node has
 * loaded is told from memory.
 *
 * <p>A name neither changes nor comes back in another place of the order, so a cursor stays what it
 * was however jobs come and go.
 */
final class NamedLister {
  private static final char MARK = 'n';
  private static final int MOST_RECORDS = 256;

  private final OpenNode opened;
  private final Store store;
  private final Function<ShardId, LivePhases> phases;
  private final OthersPhases others;

  /**
   * A lister.
   *
   * @param phases asks this node how the jobs of a shard stand
   */
  NamedLister(OpenNode opened, Function<ShardId, LivePhases> phases) {
    this.opened = opened;
    this.store = opened.store;
    this.phases = phases;
    this.others = new OthersPhases(opened);
  }

  /** Whether the records of names find all that a query asks for. */
  static boolean fits(JobQuery query) {
    String cursor = query.cursor();
    return query.namespace() != null
        && query.namePrefix() != null
        && !query.newest()
        && !query.states().isEmpty()
        && query.states().stream().noneMatch(JobState::ended)
        && (cursor == null || cursor.indexOf(MARK) == 0);
  }

  /** A page, by name. */
  Page<JobInfo> list(JobQuery query) {
    return new Listing(query).read();
  }

  /** One page being read. */
  private final class Listing {
    private final JobQuery query;
    private final Conditions conditions;
    private final PageBudget budget;
    private final List<JobInfo> items = new ArrayList<>();
    private final Set<String> unreadable = new LinkedHashSet<>();
    private boolean begun;

    /** The name behind which it goes on. */
    private @Nullable String at;

    Listing(JobQuery query) {
      this.query = query;
      this.conditions = new Conditions(query);
      this.budget = new PageBudget(store, query);
      String cursor = query.cursor();
      this.at = cursor != null ? cursor.substring(1) : null;
    }

    Page<JobInfo> read() {
      boolean more = true;
      while (more && items.size() < query.limit() && !isLate()) {
        int most = Math.min(MOST_RECORDS, query.limit() - items.size());
        List<NamedJobs.Named> records = records(most);
        more = !take(records) || records.size() == most;
      }
      return new Page<>(items, more ? MARK + at : null, List.copyOf(unreadable));
    }

    private List<NamedJobs.Named> records(int most) {
      String namespace = String.valueOf(query.namespace());
      String prefix = String.valueOf(query.namePrefix());
      return StoreAnswers.get(NamedJobs.list(store, namespace, prefix, at, most));
    }

    /** Whether the time sufficed for all of them. */
    private boolean take(List<NamedJobs.Named> records) {
      List<JobRef> refs = new ArrayList<>();
      for (NamedJobs.Named record : records) {
        if (record.job() != null) {
          refs.add(record.job());
        }
      }
      Jobs jobs = new Jobs(refs);
      for (NamedJobs.Named record : records) {
        JobRef ref = record.job();
        if (ref != null && !jobs.knows(ref) && isLate()) {
          return false;
        }
        if (record.damaged()) {
          unreadable.add("record of the name " + record.name());
        }
        Optional<JobInfo> job = ref != null ? jobs.get(ref) : Optional.empty();
        job.filter(info -> record.name().equals(info.name()) && fits(info)).ifPresent(items::add);
        at = record.name();
        begun = true;
      }
      return true;
    }

    private boolean isLate() {
      return begun && budget.isSpent();
    }

    private boolean fits(JobInfo info) {
      return conditions.fit(info) && query.states().contains(info.state());
    }

    /** The live ones of some jobs: from memory, or shard by shard once one of it is asked for. */
    private final class Jobs {
      private final Map<ShardId, Set<Long>> unread = new LinkedHashMap<>();
      private final Map<JobRef, Optional<JobInfo>> known;

      Jobs(Collection<JobRef> refs) {
        this.known = new LinkedHashMap<>(loaded(List.copyOf(refs)));
        for (JobRef ref : refs) {
          if (!known.containsKey(ref)) {
            unread.computeIfAbsent(ref.shard(), shard -> new LinkedHashSet<>()).add(ref.number());
          }
        }
      }

      boolean knows(JobRef ref) {
        return known.containsKey(ref);
      }

      Optional<JobInfo> get(JobRef ref) {
        Set<Long> numbers = unread.remove(ref.shard());
        if (numbers != null) {
          Map<Long, JobInfo> found = read(ref.shard(), numbers);
          for (long number : numbers) {
            known.put(new JobRef(ref.shard(), number), Optional.ofNullable(found.get(number)));
          }
        }
        return known.getOrDefault(ref, Optional.empty());
      }

      private Map<Long, JobInfo> read(ShardId shard, Set<Long> numbers) {
        Outcome<Map<Long, JobInfo>> outcome = new JobReader(budget.store()).infos(shard, numbers);
        if (outcome instanceof Outcome.Damaged<?>(String where)) {
          unreadable.add(where);
          return Map.of();
        }
        Map<Long, JobInfo> found = StoreAnswers.get(outcome);
        LivePhases here = phases.apply(shard);
        found.replaceAll(
            (number, info) -> {
              JobRef ref = new JobRef(shard, number);
              JobInfo now = here.complete(ref, info);
              return others.mayDiffer(now) ? others.complete(ref, now) : now;
            });
        return found;
      }
    }
  }

  private Map<JobRef, Optional<JobInfo>> loaded(List<JobRef> refs) {
    return opened
        .loop
        .post(
            new Ask<Map<JobRef, Optional<JobInfo>>>(
                opened.loop,
                "looking at jobs",
                Ask.Effect.READS,
                (node, asked) -> asked.answer(node.lookup().loaded(refs))))
        .await();
  }
}
