package dev.carillon.server.jobs;

import dev.carillon.api.Rate;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A rate in a body: so many in a period. */
public final class RateBody {
  /** The fields. */
  public static final Shape<RateBody> SHAPE =
      Shape.of(RateBody::new)
          .integer("permits", (r, v) -> r.permits = v)
          .duration("period", (r, v) -> r.period = v)
          .integer("burst", (r, v) -> r.burst = v);

  private @Nullable Integer permits;
  private Duration period = Duration.ofSeconds(1);
  private @Nullable Integer burst;

  private RateBody() {}

  /** The rate. */
  public Rate rate() {
    if (permits == null) {
      throw new InvalidBody("rate.permits: missing (expected: how many in a period)");
    }
    Rate rate = Rate.of(permits, period);
    return burst != null ? rate.burst(burst) : rate;
  }

  /** Writes a rate. */
  public static void write(JsonText out, Rate rate) {
    out.put("permits", rate.permits()).put("period", rate.period()).put("burst", rate.burst());
  }
}
