package dev.carillon;

/** Something that was gathered in a turn of the loop and then goes off, on whatever thread. */
@FunctionalInterface
interface Gathered {
  void go();
}
