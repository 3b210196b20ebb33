package dev.carillon;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeEvent;
import java.util.Map;
import org.slf4j.MDC;
import org.slf4j.helpers.NOPMDCAdapter;

/**
 * The entries of the MDC around a handler and beside the lines about its job. Where no logging
 * library keeps an MDC nothing is put.
 */
final class JobContextMap {
  static final String NODE = "carillon.node";
  static final String JOB = "carillon.job";
  static final String TYPE = "carillon.type";
  static final String ATTEMPT = "carillon.attempt";
  static final String NAMESPACE = "carillon.namespace";

  private JobContextMap() {}

  static Map<String, String> of(NodeEvent.Subject job) {
    return Map.of(JOB, job.id(), TYPE, job.type(), NAMESPACE, job.namespace());
  }

  /** Puts the entries of an attempt; true where there is an MDC that has them now. */
  static boolean put(Attempt attempt, String namespace) {
    if (MDC.getMDCAdapter() instanceof NOPMDCAdapter) {
      return false;
    }
    MDC.put(JOB, attempt.id().value());
    MDC.put(TYPE, attempt.type());
    MDC.put(ATTEMPT, attempt.number() == 1 ? "1" : Integer.toString(attempt.number()));
    MDC.put(NAMESPACE, namespace);
    return true;
  }

  static void remove() {
    MDC.remove(JOB);
    MDC.remove(TYPE);
    MDC.remove(ATTEMPT);
    MDC.remove(NAMESPACE);
  }
}
