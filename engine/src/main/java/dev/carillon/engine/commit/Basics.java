package dev.carillon.engine.commit;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;

/**
 * The environment, settings, timers and record changes of a node, which most of its parts share.
 *
 * @param records changes of the store's records, in order for each key
 */
public record Basics(
    NodeEnvironment env, NodeOptions options, Timers timers, RecordChanges records) {

  /** Store calls that are made until they are answered. */
  public StoreCalls calls() {
    return new StoreCalls(env, timers);
  }
}
