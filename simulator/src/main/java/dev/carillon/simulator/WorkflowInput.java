package dev.carillon.simulator;

import java.nio.charset.StandardCharsets;

/**
 * What a simulated workflow is given.
 *
 * @param id of the workflow that a user asked for; its children have it too
 * @param seed of its program
 * @param rounds how often it still begins anew
 * @param path how it came to be a child: the places of the calls; empty where it is none
 */
record WorkflowInput(long id, long seed, int rounds, String path) {

  boolean isChild() {
    return !path.isEmpty();
  }

  /** Of the next round. */
  WorkflowInput next() {
    return new WorkflowInput(id, Chance.mix(seed + 1), rounds - 1, path);
  }

  /** Of a child that the call at that place of the program starts. */
  WorkflowInput child(int at) {
    return new WorkflowInput(id, Chance.mix(seed ^ (at + 1)), 0, path + "/" + rounds + "." + at);
  }

  String text() {
    return id + " " + seed + " " + rounds + " " + path;
  }

  byte[] bytes() {
    return text().getBytes(StandardCharsets.UTF_8);
  }

  static WorkflowInput of(byte[] bytes) {
    String[] parts = new String(bytes, StandardCharsets.UTF_8).split(" ", -1);
    return new WorkflowInput(
        Long.parseLong(parts[0]), Long.parseLong(parts[1]), Integer.parseInt(parts[2]), parts[3]);
  }

  @Override
  public String toString() {
    return "workflow " + id + path;
  }
}
