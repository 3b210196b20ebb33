package dev.carillon.engine.request;

import java.util.List;

/** Requests that are added together or not at all. */
final class AddBatch {
  final List<AddRequest> requests;
  int unplaced;
  boolean failed;

  AddBatch(List<AddRequest> requests) {
    this.requests = requests;
    this.unplaced = requests.size();
  }
}
