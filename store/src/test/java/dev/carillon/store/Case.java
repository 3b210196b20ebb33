package dev.carillon.store;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;

/** One case of the conformance suite, as {@code docs/store-contract.md} numbers it. */
@Test
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Case {

  /** Its number: T for the journals and the whole, R for records, C for capabilities. */
  String id();

  /** What it shows, in a few words. */
  String title();
}
