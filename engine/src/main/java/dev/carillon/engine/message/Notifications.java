package dev.carillon.engine.message;

import dev.carillon.engine.environment.NodeEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Sends notifications to other nodes, through the store's doorbells. Of each channel one
 * notification is under way at a time and at most one waits, which stands for all that were asked
 * for meanwhile.
 */
public final class Notifications {
  private final NodeEnvironment env;

  /** Channels with a notification under way, and whether another waits. */
  private final Map<String, Boolean> underWay = new LinkedHashMap<>();

  public Notifications(NodeEnvironment env) {
    this.env = env;
  }

  /** To be called when what is to be found is acknowledged. Where it is lost, a poll finds it. */
  void send(String channel) {
    if (underWay.containsKey(channel)) {
      underWay.put(channel, true);
      return;
    }
    underWay.put(channel, false);
    env.submit(
        NodeEnvironment.Channel.NOTIFICATIONS,
        store -> {
          store.doorbells().ring(channel);
          return true;
        },
        sent -> {
          if (underWay.remove(channel)) {
            send(channel);
          }
        });
  }
}
