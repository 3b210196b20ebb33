package dev.carillon.server.jobs;

import dev.carillon.RawPayload;
import dev.carillon.api.JobInfo;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Role;
import dev.carillon.server.json.Json;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What callers are shown of the input or result of a job. Asked on the thread of the request;
 * thread-safe. What it throws is a bug: nothing is shown then.
 */
@FunctionalInterface
public interface Redaction {
  /** Everything is shown. */
  Redaction NONE = (job, caller, payload) -> payload;

  /**
   * What is shown.
   *
   * @param job the job
   * @param caller who asks
   * @param payload the bytes as they are stored
   * @return the bytes to show; null for none
   */
  @Nullable RawPayload shown(JobInfo job, Caller caller, RawPayload payload);

  /**
   * Hides fields of JSON from all but the admins of the namespace, at any depth: their values
   * become {@code "***"}. Payloads of other codecs are not shown at all.
   *
   * @param names the names of the fields
   * @return the redaction
   */
  static Redaction ofFields(Set<String> names) {
    Set<String> hidden = Set.copyOf(names);
    return (job, caller, payload) -> {
      if (caller.has(Role.ADMIN, job.namespace()) || payload.codec().isEmpty()) {
        return payload;
      }
      return payload.codec().equals("json") && Json.isValid(payload.bytes())
          ? new RawPayload(payload.codec(), Json.masked(payload.bytes(), hidden))
          : null;
    };
  }
}
