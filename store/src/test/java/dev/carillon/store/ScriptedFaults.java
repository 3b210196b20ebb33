package dev.carillon.store;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.FaultyStore.Faults;
import dev.carillon.store.ForwardingStore.Operation;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One fault for the next call of an operation, when a case says so; everything else passes. */
final class ScriptedFaults implements Faults {

  private final Map<Operation, Fault> next = new ConcurrentHashMap<>();

  void expect(Operation operation, Fault fault) {
    next.put(operation, fault);
  }

  @Override
  public Fault next(Operation operation) {
    Fault fault = next.remove(operation);
    return fault == null ? Fault.NONE : fault;
  }
}
