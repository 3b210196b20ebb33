import dev.carillon.micrometer.CarillonMeters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** With a Carillon that is open, in memory, and a registry for its meters. */
public final class CLASS {
  public static void run() throws Exception {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (Carillon carillon = Carillon.inMemory()) {
      // SNIPPET
    }
  }
}
