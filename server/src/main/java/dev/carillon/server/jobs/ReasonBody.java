package dev.carillon.server.jobs;

import dev.carillon.server.json.Shape;

/** A body that may say why. */
public final class ReasonBody {
  /** The fields. */
  public static final Shape<ReasonBody> SHAPE =
      Shape.of(ReasonBody::new).text("reason", (r, v) -> r.reason = v);

  /** For bodies without fields. */
  public static final Shape<ReasonBody> NOTHING = Shape.of(ReasonBody::new);

  private String reason = "";

  private ReasonBody() {}

  /** Why; may be empty. */
  public String reason() {
    return reason;
  }
}
