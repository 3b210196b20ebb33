package dev.carillon.server.operate;

import dev.carillon.FlowControl;
import dev.carillon.api.Rate;
import dev.carillon.server.http.Answer;
import dev.carillon.server.jobs.RateBody;
import dev.carillon.server.json.JsonText;
import org.jspecify.annotations.Nullable;

/** What is set about a queue or a namespace, as it is written down. */
final class Flows {
  private Flows() {}

  /** A setting, with a tag that names it for {@code If-Match}. */
  static Answer answer(FlowControl.Setting setting) {
    return Answer.json(out -> write(out, setting)).header("ETag", "\"" + setting.version() + "\"");
  }

  /** Its fields. */
  static void write(JsonText out, FlowControl.Setting setting) {
    out.put("paused", setting.paused()).put("reason", setting.pauseReason());
    if (setting.limit() > 0) {
      out.put("limit", setting.limit());
    }
    Rate rate = setting.rate();
    if (rate != null) {
      out.object("rate", inner -> RateBody.write(inner, rate));
    }
    write(out, "pausedBy", "pausedAt", setting.pausedBy());
    write(out, "changedBy", "changedAt", setting.changed());
  }

  private static void write(
      JsonText out, String by, String at, FlowControl.@Nullable Change change) {
    if (change != null) {
      out.put(by, change.by()).put(at, change.at());
    }
  }
}
