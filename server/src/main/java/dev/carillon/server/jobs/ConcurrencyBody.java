package dev.carillon.server.jobs;

import dev.carillon.api.Concurrency;
import dev.carillon.api.WhenFull;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import org.jspecify.annotations.Nullable;

/** A concurrency key in a body. */
final class ConcurrencyBody {
  static final Shape<ConcurrencyBody> SHAPE =
      Shape.of(ConcurrencyBody::new)
          .text("key", (c, v) -> c.key = v)
          .integer("limit", (c, v) -> c.limit = v)
          .constant("whenFull", WhenFull.class, (c, v) -> c.whenFull = v)
          .object("rate", RateBody.SHAPE, (c, v) -> c.rate = v);

  private @Nullable String key;
  private int limit = 1;
  private WhenFull whenFull = WhenFull.WAIT;
  private @Nullable RateBody rate;

  Concurrency concurrency() {
    if (key == null) {
      throw new InvalidBody("concurrency.key: missing (expected: what the jobs share)");
    }
    return new Concurrency(key, limit, whenFull, rate != null ? rate.rate() : null);
  }
}
