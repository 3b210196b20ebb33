package dev.carillon;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import java.time.Instant;

/** A range of time that a caller asks about; the beginning is not after the end. */
record TimeRange(Instant from, Instant to) {

  TimeRange {
    Limits.checkDue(from);
    Limits.checkDue(to);
    if (from.isAfter(to)) {
      throw InvalidArgumentException.of("from", from, "not after to, " + to);
    }
  }
}
