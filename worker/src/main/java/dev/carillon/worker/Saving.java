package dev.carillon.worker;

import dev.carillon.protocol.Payload;
import dev.carillon.protocol.Saved;
import java.util.concurrent.CompletableFuture;

/** A position on its way to the store. */
final class Saving {
  final Run run;
  final Payload state;
  final CompletableFuture<Saved.Result> answer = new CompletableFuture<>();
  long request;

  Saving(Run run, Payload state) {
    this.run = run;
    this.state = state;
  }
}
