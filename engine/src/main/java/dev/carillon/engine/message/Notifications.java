package dev.carillon.engine.message;

import dev.carillon.engine.environment.NodeEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Rings other nodes' doorbells. Of each bell one ring is under way at a time and at most one waits,
 * which stands for all that were asked for meanwhile.
 */
public final class Notifications {
  private final NodeEnvironment env;

  /** Bells whose ring is under way, and whether another waits. */
  private final Map<String, Boolean> ringing = new LinkedHashMap<>();

  public Notifications(NodeEnvironment env) {
    this.env = env;
  }

  /** To be called when what is to be found is acknowledged. Where it is lost, a poll finds it. */
  void ring(String bell) {
    if (ringing.containsKey(bell)) {
      ringing.put(bell, true);
      return;
    }
    ringing.put(bell, false);
    env.submit(
        NodeEnvironment.Channel.RING,
        store -> {
          store.doorbells().ring(bell);
          return true;
        },
        rang -> {
          if (ringing.remove(bell)) {
            ring(bell);
          }
        });
  }
}
