package dev.carillon.server.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.carillon.Carillon;
import dev.carillon.MemberInfo;
import dev.carillon.SharedRecords;
import dev.carillon.api.error.CarillonException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where workers reach the other servers of a store. Each server has a record with its address;
 * those of nodes that are not there are left out. Thread-safe; blocks while the store is asked.
 */
final class Peers {
  /** The area of the records. */
  static final String AREA = "worker-servers";

  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);
  private static final int ADDRESS_CHARS = 300;

  private final Carillon carillon;
  private final String own;
  private final Consumer<List<String>> news;
  private final SharedRecords records;
  private boolean written;
  private volatile List<String> addresses;

  /**
   * The servers of a node's store.
   *
   * @param own the address of this one, as workers reach it
   * @param news told the addresses when they have changed
   */
  Peers(Carillon carillon, String own, Consumer<List<String>> news) {
    this.carillon = carillon;
    this.own = own;
    this.news = news;
    this.records = carillon.node().sharedRecords(AREA);
    this.addresses = List.of();
  }

  List<String> addresses() {
    return addresses;
  }

  /** Looks at the records; a store that is away changes nothing. */
  synchronized void look() {
    try {
      List<MemberInfo> members = carillon.node().members();
      if (members.size() < 2) {
        tell(List.of());
        return;
      }
      if (!written) {
        write();
      }
      Set<String> there =
          members.stream()
              .filter(
                  member ->
                      switch (member.state()) {
                        case THERE, LEAVING, DRAINING -> true;
                        case GONE, DEAD -> false;
                      })
              .map(MemberInfo::nodeId)
              .collect(Collectors.toSet());
      Set<String> found = new TreeSet<>();
      for (SharedRecords.Entry entry : records.list()) {
        if (there.contains(entry.key()) && entry.value().length <= ADDRESS_CHARS) {
          found.add(new String(entry.value(), UTF_8));
        }
      }
      found.remove(own);
      tell(new ArrayList<>(found));
    } catch (CarillonException e) {
      LOG.debug("the servers for workers are not known: {}", e.getMessage());
    }
  }

  private void tell(List<String> now) {
    if (!now.equals(addresses)) {
      addresses = List.copyOf(now);
      news.accept(now);
    }
  }

  private void write() {
    String id = carillon.node().id();
    byte[] value = own.getBytes(UTF_8);
    Optional<SharedRecords.Entry> before = records.get(id);
    written = records.put(id, before.map(SharedRecords.Entry::version).orElse(null), value);
  }

  /** No worker is to come here any more. */
  synchronized void leave() {
    try {
      if (written) {
        var unused = records.get(carillon.node().id()).map(records::delete);
      }
    } catch (CarillonException e) {
      LOG.debug("the address for workers stays: {}", e.getMessage());
    }
  }
}
