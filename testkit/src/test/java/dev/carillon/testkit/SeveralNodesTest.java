package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.ClusterInfo;
import dev.carillon.MemberInfo;
import dev.carillon.NodeIdProvider;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.RecurringInfo;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Several nodes of one process on one store, through what users see. */
class SeveralNodesTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Duration TIMEOUT = Duration.ofMillis(1500);

  private final MemoryStore store = new MemoryStore();
  private final Set<String> ran = ConcurrentHashMap.newKeySet();

  /** A node that leaves the store open for the others when it closes. */
  private Carillon node(String id) {
    CarillonBuilder builder =
        Carillon.builder()
            .store(shared())
            .nodeId(id)
            .advanced(a -> a.memberTimeout(TIMEOUT).jmx(true))
            .daemon(true);
    Carillon carillon = builder.open();
    carillon.handle(NOTE, (text, job) -> ran.add(text + " on " + id));
    return carillon;
  }

  private Store shared() {
    return (Store)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, args) ->
                method.getName().equals("close") ? null : method.invoke(store, args));
  }

  @Test
  void membersSeeEachOtherAndWhoStops() throws Exception {
    try (Carillon a = node("a")) {
      try (Carillon b = node("b")) {
        Awaitility.await()
            .untilAsserted(
                () ->
                    assertThat(a.node().members())
                        .extracting(MemberInfo::nodeId, MemberInfo::state)
                        .containsExactly(
                            tuple("a", MemberInfo.State.THERE),
                            tuple("b", MemberInfo.State.THERE)));
        assertThat(b.node().stats().shards()).isZero();
      }
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(a.node().members())
                      .extracting(MemberInfo::state)
                      .containsExactly(MemberInfo.State.THERE, MemberInfo.State.GONE));
      ObjectName pattern = new ObjectName("dev.carillon:type=Node,node=\"a\",*");
      Set<ObjectName> shown = ManagementFactory.getPlatformMBeanServer().queryNames(pattern, null);
      assertThat(shown).hasSize(1);
      Object members =
          ManagementFactory.getPlatformMBeanServer()
              .getAttribute(shown.iterator().next(), "Members");
      assertThat((String[]) members).hasSize(2);
    }
    ObjectName all = new ObjectName("dev.carillon:type=Node,*");
    assertThat(ManagementFactory.getPlatformMBeanServer().queryNames(all, null)).isEmpty();
  }

  @Test
  void recurringJobIsDeclaredByAnyNodeAndIsStillOneJob() {
    Schedule daily = Schedule.every(Duration.ofDays(1));
    Schedule hourly = Schedule.every(Duration.ofHours(1));
    JobId id;
    try (Carillon b = node("b")) {
      try (Carillon a = node("a")) {
        id = a.recurring("report", NOTE.job("one"), daily).id();
        assertThat(b.recurring("report", NOTE.job("two"), hourly).id()).isEqualTo(id);
        assertThat(a.input(id, String.class)).isEqualTo("two");
        assertThat(recurring(a, id).schedule()).isEqualTo(hourly);
      }
      assertThat(b.recurring("report", NOTE.job("three"), hourly).id())
          .as("after the node that had it has gone")
          .isEqualTo(id);
      assertThat(b.input(id, String.class)).isEqualTo("three");
      assertThat(b.list(JobQuery.all()).items()).hasSize(1);
    }
  }

  private static RecurringInfo recurring(Carillon carillon, JobId id) {
    return carillon.get(id).orElseThrow().recurring();
  }

  @Test
  void jmxNameIsTheSameAfterARestart() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName("dev.carillon:type=Node,node=\"a\"");
    ObjectName second = new ObjectName("dev.carillon:type=Node,node=\"a\",instance=2");
    for (int start = 0; start < 2; start++) {
      try (Carillon a = node("a")) {
        assertThat(a.node().health().live()).isTrue();
        assertThat(server.isRegistered(name)).isTrue();
        try (Carillon twin = lonely("a")) {
          assertThat(twin.node().health().live()).isTrue();
          assertThat(server.isRegistered(second)).isTrue();
        }
        assertThat(server.isRegistered(second)).isFalse();
        assertThat(server.isRegistered(name)).isTrue();
      }
      assertThat(server.isRegistered(name)).isFalse();
    }
  }

  /** A node of the same process on a store of its own. */
  private static Carillon lonely(String id) {
    return Carillon.builder().inMemory().nodeId(id).advanced(a -> a.jmx(true)).daemon(true).open();
  }

  @Test
  void idOfANodeComesFromAProviderOfTheUsers() {
    NodeIdProvider passing =
        new NodeIdProvider() {
          @Override
          public String nodeId() {
            return "machine-7";
          }

          @Override
          public boolean returns() {
            return false;
          }
        };
    CarillonBuilder builder =
        Carillon.builder()
            .store(shared())
            .nodeId(passing)
            .advanced(a -> a.memberTimeout(TIMEOUT))
            .daemon(true);
    try (Carillon a = node("a")) {
      try (Carillon other = builder.open()) {
        assertThat(other.node().members().getFirst().nodeId()).isEqualTo("machine-7");
        Awaitility.await().until(() -> a.node().members().size() == 2);
        assertThat(a.node().members().getLast().nodeId()).isEqualTo("machine-7");
      }
      Awaitility.await().until(() -> a.node().members().size() == 1); // since it never returns
    }
  }

  @Test
  void jobsOfANodeThatStopsRunOnTheOther() {
    try (Carillon b = node("b")) {
      try (Carillon a = node("a")) {
        a.schedule(NOTE.job("here"));
        Awaitility.await().until(() -> ran.contains("here on a"));
        a.schedule(NOTE.job("there").in(Duration.ofSeconds(3)));
      }
      Awaitility.await().until(() -> ran.contains("there on b"));
      assertThat(b.node().stats().standsIn()).isPositive();
    }
  }

  @Test
  void jobOfAnotherNodeIsCancelledAndItsEndSeen() throws Exception {
    try (Carillon a = node("a");
        Carillon b = node("b")) {
      Awaitility.await().until(() -> b.node().members().size() == 2);
      JobHandle<Void> job = a.schedule(NOTE.job("never").in(Duration.ofHours(1)));
      assertThat(b.cancel(job.id(), "not wanted")).isEqualTo(new CancelResult.Cancelled());
      assertThat(a.get(job.id()).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
      assertThat(List.copyOf(ran)).isEmpty();
    }
  }

  @Test
  void drainedNodeHandsItsJobsToTheOther() {
    try (Carillon a = node("a");
        Carillon b = node("b")) {
      Awaitility.await().until(() -> b.node().members().size() == 2);
      a.schedule(NOTE.job("elsewhere").in(Duration.ofSeconds(4)));
      a.node().drain();
      Awaitility.await().until(() -> a.node().stats().shards() == 0);
      assertThat(a.node().members().getFirst().state()).isEqualTo(MemberInfo.State.DRAINING);
      Awaitility.await().until(() -> ran.contains("elsewhere on b"));
      a.node().undrain();
      Awaitility.await()
          .until(() -> a.node().members().getFirst().state().equals(MemberInfo.State.THERE));
    }
  }

  @Test
  void clockOfEachMemberIsShown() {
    try (Carillon a = node("a");
        Carillon b = node("b")) {
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(b.node().members())
                      .hasSize(2)
                      .allSatisfy(member -> assertThat(member.clockOffset()).isNotNull()));
      assertThat(a.node().health().detail()).isEqualTo("ok");
    }
  }

  @Test
  void clientSchedulesThroughAMemberAndRunsNothing() {
    try (Carillon member = node("member");
        Carillon client =
            Carillon.builder()
                .store(shared())
                .nodeId("client")
                .advanced(a -> a.memberTimeout(TIMEOUT))
                .clientOnly(true)
                .daemon(true)
                .open()) {
      Awaitility.await().until(() -> client.node().members().size() == 2);
      JobHandle<Void> job = client.schedule(NOTE.job("hello"));
      Awaitility.await().until(() -> ran.contains("hello on member"));
      Awaitility.await()
          .until(() -> client.get(job.id()).orElseThrow().state() == JobState.SUCCEEDED);
      JobHandle<Void> later = client.schedule(NOTE.job("later").in(Duration.ofHours(1)));
      assertThat(client.cancel(later.id(), "enough")).isEqualTo(new CancelResult.Cancelled());
      assertThat(client.node().stats().shards()).isZero();
      assertThat(member.node().stats().addedTotal()).isEqualTo(2);
      assertThatThrownBy(() -> client.handle(NOTE, (text, attempt) -> {}))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("clientOnly");
    }
  }

  @Test
  void clusterShowsMembersShardsByTimeAndTotals() {
    try (Carillon a = node("a")) {
      try (Carillon b = node("b")) {
        Awaitility.await()
            .until(() -> a.node().members().size() == 2 && b.node().members().size() == 2);
        a.schedule(NOTE.job("now"));
        Awaitility.await().until(() -> a.node().stats().endedTotal() == 1);
        a.schedule(NOTE.job("far").in(Duration.ofDays(100)));
        b.schedule(NOTE.job("other").in(Duration.ofDays(100)));
        ClusterInfo seen = a.node().cluster();
        assertThat(seen.complete()).isTrue();
        assertThat(seen.scheduled()).isEqualTo(2);
        assertThat(seen.delivered()).isEqualTo(1);
        assertThat(seen.members())
            .extracting(
                member -> member.info().nodeId(),
                ClusterInfo.Member::owned,
                ClusterInfo.Member::standsIn,
                ClusterInfo.Member::standInOf)
            .containsExactly(
                tuple("a", 2, 0, Map.of("b", ClusterInfo.PARTS)),
                tuple("b", 1, 0, Map.of("a", ClusterInfo.PARTS)));
        assertThat(seen.slices())
            .extracting(
                ClusterInfo.Slice::shards, ClusterInfo.Slice::owned, ClusterInfo.Slice::pending)
            .containsExactly(tuple(1, 1, 0L), tuple(2, 2, 1L));
      }
      Awaitility.await()
          .untilAsserted(
              () -> assertThat(a.node().cluster().slices().getLast().pending()).isEqualTo(2));
    }
  }

  private static Object jmx(String nodeId, String attribute) throws Exception {
    ObjectName pattern = new ObjectName("dev.carillon:type=Node,node=\"" + nodeId + "\",*");
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    return server.getAttribute(server.queryNames(pattern, null).iterator().next(), attribute);
  }

  @Test
  void jmxShowsAssignmentsActiveAndInactiveNodesStandInsAndTotals() throws Exception {
    try (Carillon a = node("a")) {
      try (Carillon b = node("b")) {
        Awaitility.await()
            .until(() -> b.node().members().size() == 2 && a.node().members().size() == 2);
        assertThat((String[]) jmx("a", "Assignments")).containsExactly("b 128");
        assertThat((String[]) jmx("b", "Assignments")).containsExactly("a 128");
        assertThat((String[]) jmx("a", "Active")).containsExactly("a", "b");
        assertThat((String[]) jmx("a", "Inactive")).isEmpty();
        b.schedule(NOTE.job("adopted").in(Duration.ofSeconds(20)));
        a.schedule(NOTE.job("own"));
        Awaitility.await().until(() -> a.node().stats().endedTotal() == 1);
      }
      Awaitility.await().until(() -> (int) jmx("a", "StandsIn") == 1);
      assertThat((String[]) jmx("a", "Active")).containsExactly("a");
      assertThat((String[]) jmx("a", "Inactive")).containsExactly("b");
      Awaitility.await().until(() -> (int) jmx("a", "Pending") == 1);
      assertThat(jmx("a", "InClaim")).isEqualTo(0);
      assertThat(jmx("a", "Scheduled")).isEqualTo(1L);
      assertThat(jmx("a", "Delivered")).isEqualTo(1L);
    }
  }
}
