package dev.carillon;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/** A node in the platform's MBean server, from its opening to its closing. */
final class Management implements CarillonMXBean {
  private static final int MOST_INSTANCES = 1_000;

  private final NodeControl node;
  private final String nodeId;
  private final long incarnation;

  private Management(NodeControl node, String nodeId, long incarnation) {
    this.node = node;
    this.nodeId = nodeId;
    this.incarnation = incarnation;
  }

  /**
   * Shows the node under a name made of its id, the same after each restart: {@code
   * dev.carillon:type=Node,node="ID"}. A second node of this process with the same id has {@code
   * ,instance=2} behind it. Null, and a report, where that is not possible.
   */
  static @Nullable ObjectName register(
      NodeControl node, String nodeId, long incarnation, Reports reports) {
    Management bean = new Management(node, nodeId, incarnation);
    String base = "dev.carillon:type=Node,node=" + ObjectName.quote(nodeId);
    try {
      for (int instance = 1; instance <= MOST_INSTANCES; instance++) {
        ObjectName name = new ObjectName(instance == 1 ? base : base + ",instance=" + instance);
        try {
          server().registerMBean(bean, name);
          return name;
        } catch (InstanceAlreadyExistsException e) {
          // the next number is tried
        }
      }
      reports.report(
          "the node could not be shown over JMX",
          new IllegalStateException(
              "nodes of this process named %s: %d (expected: fewer)"
                  .formatted(nodeId, MOST_INSTANCES)));
    } catch (JMException e) {
      reports.report("the node could not be shown over JMX", e);
    }
    return null;
  }

  static void unregister(@Nullable ObjectName name, Reports reports) {
    if (name == null) {
      return;
    }
    try {
      server().unregisterMBean(name);
    } catch (InstanceNotFoundException e) {
      // somebody else took it away
    } catch (JMException e) {
      reports.report("the node could not be taken from JMX", e);
    }
  }

  private static MBeanServer server() {
    return ManagementFactory.getPlatformMBeanServer();
  }

  @Override
  public String getNodeId() {
    return nodeId;
  }

  @Override
  public List<String> getMembers() {
    return node.members().stream().map(Management::line).toList();
  }

  private static String line(MemberInfo member) {
    String line = member.nodeId() + " " + member.incarnation() + " " + member.state();
    Duration offset = member.clockOffset();
    return offset == null ? line : line + " clock " + offset.toMillis() + " ms";
  }

  @Override
  public List<String> getAssignments() {
    return node.known().assignments().getOrDefault(incarnation, Map.of()).entrySet().stream()
        .map(part -> part.getKey() + " " + part.getValue())
        .toList();
  }

  @Override
  public List<String> getActive() {
    return nodes(member -> !isInactive(member));
  }

  @Override
  public List<String> getInactive() {
    List<String> active = getActive();
    return nodes(member -> isInactive(member) && !active.contains(member.nodeId()));
  }

  private List<String> nodes(Predicate<MemberInfo> which) {
    return node.members().stream().filter(which).map(MemberInfo::nodeId).distinct().toList();
  }

  private static boolean isInactive(MemberInfo member) {
    return member.state() == MemberInfo.State.GONE || member.state() == MemberInfo.State.DEAD;
  }

  @Override
  public String getHeld() {
    return node.held();
  }

  @Override
  public int getShards() {
    return node.stats().shards();
  }

  @Override
  public int getStandsIn() {
    return node.stats().standsIn();
  }

  @Override
  public int getInClaim() {
    return node.known().inClaim();
  }

  @Override
  public int getLoadedShards() {
    return node.stats().loadedShards();
  }

  @Override
  public int getPending() {
    return node.stats().loadedJobs();
  }

  @Override
  public long getScheduled() {
    return node.stats().addedTotal();
  }

  @Override
  public long getDelivered() {
    return node.stats().endedTotal();
  }

  @Override
  public int getRunning() {
    return node.stats().running();
  }

  @Override
  public long getReady() {
    return node.stats().ready();
  }

  @Override
  public long getBlocked() {
    return node.stats().blocked();
  }

  @Override
  public long getQueued() {
    return node.stats().queued();
  }

  @Override
  public int getRefusedShards() {
    return node.stats().refusedShards();
  }

  @Override
  public long getProblems() {
    return node.stats().problems();
  }
}
