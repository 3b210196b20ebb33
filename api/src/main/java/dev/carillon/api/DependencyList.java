package dev.carillon.api;

import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.function.IntFunction;

/** See {@link DependencyInfo#listOf}. */
final class DependencyList extends AbstractList<DependencyInfo> implements RandomAccess {
  private final int size;
  private final IntFunction<DependencyInfo> element;

  DependencyList(int size, IntFunction<DependencyInfo> element) {
    this.size = size;
    this.element = element;
  }

  /** An unmodifiable list of the same: one of these itself, a copy of any other. */
  static List<DependencyInfo> of(List<DependencyInfo> given) {
    return given instanceof DependencyList ? given : List.copyOf(given);
  }

  @Override
  public DependencyInfo get(int index) {
    return element.apply(Objects.checkIndex(index, size));
  }

  @Override
  public int size() {
    return size;
  }
}
